// Which arms may stand beside the reference.
#include "experiments/sweep/comparability.hpp"

#include "experiments/config/settings.hpp"

#include <catch2/catch.hpp>

using namespace heed;
using Catch::Contains;

namespace {

/// Why an arm can't be compared with the plain copy task by `metric`.
std::string why_not(const std::string& arm_toml, Form arm_form = Form::language_model,
                    const std::string& metric = "val_loss") {
  const Config reference = Settings::parse("task.kind = \"copy\"\n", "reference.toml").resolve();
  const Config arm = Settings::parse(arm_toml, "arm.toml").resolve();
  return why_not_comparable(reference, *make_task(reference), Form::language_model, arm, *make_task(arm), arm_form,
                            metric);
}

} // namespace

TEST_CASE("models, training and a task's lengths may differ", "[sweep][comparability]") {
  CHECK(why_not("task.kind = \"copy\"\n").empty());
  CHECK(why_not("[task]\nkind = \"copy\"\n[attention]\nscore = \"additive\"\n[train]\nsteps = 7\nbatch = 4\n").empty());
  CHECK(why_not("[task]\nkind = \"copy\"\n[task.copy]\nlength = 12\n").empty());
}

TEST_CASE("another task, other held-out examples and other targets are refused", "[sweep][comparability]") {
  CHECK_THAT(why_not("task.kind = \"reverse\"\n"),
             Contains("task.kind is \"reverse\", and the reference's is \"copy\""));
  CHECK_THAT(why_not("[task]\nkind = \"copy\"\nseed = 3\n"), Contains("task.seed is 3"));
  CHECK_THAT(why_not("[task]\nkind = \"copy\"\nvalidation = 64\n"), Contains("task.validation is 64"));
  CHECK_THAT(why_not("[task]\nkind = \"copy\"\n[task.copy]\nsymbols = 16\n"), Contains("it predicts one of"));
  CHECK_THAT(why_not("[task]\nkind = \"copy\"\n[model]\nkind = \"encoder_decoder\"\n", Form::sequence_to_sequence),
             Contains("an input and an output with its end token"));
}

TEST_CASE("an arm that does not measure the metric is refused", "[sweep][comparability]") {
  CHECK(why_not("task.kind = \"copy\"\n", Form::language_model, "val_sequence_accuracy").empty());
  CHECK_THAT(why_not("task.kind = \"copy\"\n", Form::language_model, "val_bleu"),
             Contains("does not measure val_bleu"));
}
