// Tests of which arms may be compared with the reference.
#include "experiments/config/config.hpp"
#include "experiments/sweep/plan_checks.hpp"

#include "experiments/config/settings.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <fmt/format.h>

using namespace heed;
using Catch::Contains;

namespace {

/// Why an arm cannot be compared with the plain copy task by `metric`.
std::string why_not(const std::string& arm_toml, TaskFormat arm_format = TaskFormat::language_model,
                    const std::string& metric = "val_loss") {
  const Config reference = Settings::parse("task.kind = \"copy\"\n", "reference.toml").resolve();
  const Config arm = Settings::parse(arm_toml, "arm.toml").resolve();
  return why_not_comparable(reference, *make_task(reference), TaskFormat::language_model, arm, *make_task(arm),
                            arm_format, metric);
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
  CHECK_THAT(why_not("[task]\nkind = \"copy\"\n[model]\nkind = \"encoder_decoder\"\n",
                     TaskFormat::sequence_to_sequence),
             Contains("an input and an output with its end token"));
}

TEST_CASE("an arm that does not measure the metric is refused", "[sweep][comparability]") {
  CHECK(why_not("task.kind = \"copy\"\n", TaskFormat::language_model, "val_sequence_accuracy").empty());
  CHECK_THAT(why_not("task.kind = \"copy\"\n", TaskFormat::language_model, "val_bleu"),
             Contains("does not measure val_bleu"));
}

TEST_CASE("BLEU of other words, and estimates from other numbers of sequences, are refused", "[sweep][comparability]") {
  const auto why = [](const std::string& a, const std::string& b, const std::string& metric) {
    const std::string base = "[task]\nkind = \"copy\"\n[model]\nkind = \"encoder_decoder\"\n[train]\n";
    const Config reference = Settings::parse(base + a, "reference.toml").resolve();
    const Config arm = Settings::parse(base + b, "arm.toml").resolve();
    return why_not_comparable(reference, *make_task(reference), TaskFormat::sequence_to_sequence, arm, *make_task(arm),
                              TaskFormat::sequence_to_sequence, metric);
  };
  const std::string decoded = "evaluate_beam = 1\n", intl = "evaluate_bleu_tokenization = \"intl\"\n";
  CHECK(why(decoded + intl, decoded + intl, "val_bleu").empty());
  CHECK(why(decoded, decoded + intl, "val_chrf").empty());
  CHECK_THAT(why(decoded, decoded + intl, "val_bleu"),
             Contains("train.evaluate_bleu_tokenization is intl, and the reference's is 13a"));
  const std::string four = "evaluate_random_batches = 4\nbatch = 10\n",
                    five = "evaluate_random_batches = 5\nbatch = 10\n",
                    halves = "evaluate_random_batches = 8\nbatch = 5\n";
  CHECK(why(four, halves, "val_loss_estimate").empty());
  CHECK(why(four, five, "val_loss").empty());
  CHECK_THAT(why(four, five, "val_loss_estimate"), Contains("estimated from 50 sequences"));
}

TEST_CASE("listed examples are compared by which are held out", "[sweep][comparability]") {
  const auto why = [](const std::string& a, const std::string& b) {
    const Config reference = Settings::parse(a, "reference.toml").resolve();
    const Config arm = Settings::parse(b, "arm.toml").resolve();
    return why_not_comparable(reference, *make_task(reference), TaskFormat::language_model, arm, *make_task(arm),
                              TaskFormat::language_model, "val_loss");
  };
  const std::string scan = "[task]\nkind = \"scan\"\nvalidation = 32\n[task.scan]\n";
  CHECK(why(scan + "split = \"simple\"\n", scan + "split = \"simple\"\n").empty());
  CHECK_THAT(why(scan + "split = \"simple\"\n", scan + "split = \"add_jump\"\n"),
             Contains("different data") && Contains("split = add_jump"));
  CHECK_THAT(why(scan + "split = \"length\"\n", scan + "split = \"length\"\ncutoff = 20\n"),
             Contains("different data") && Contains("cutoff = 20"));
}

TEST_CASE("of a file's options those count that change what is held out, and not how training draws batches",
          "[sweep][comparability]") {
  const Scratch folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("a b {0}\tb a {0}\n", i % 10);
  put(folder / "pairs.tsv", text);
  const auto why = [&](const std::string& a, const std::string& b) {
    const std::string task =
        fmt::format("[task]\nkind = \"translation\"\n[model]\nkind = \"encoder_decoder\"\n[data]\npath = \"{}\"\n",
                    (folder / "pairs.tsv").string());
    const Config reference = Settings::parse(task + a, "reference.toml").resolve();
    const Config arm = Settings::parse(task + b, "arm.toml").resolve();
    return why_not_comparable(reference, *make_task(reference), TaskFormat::sequence_to_sequence, arm, *make_task(arm),
                              TaskFormat::sequence_to_sequence, "val_loss");
  };
  CHECK(why("", "bucket = 8\n").empty());
  CHECK_THAT(why("validation_rows = 8\n", "validation_rows = 12\n"), Contains("data.validation_rows is 12"));
}

TEST_CASE("as many held-out sequences must be measured", "[sweep][comparability]") {
  const auto why = [](const std::string& a, const std::string& b) {
    const std::string task = "[task]\nkind = \"copy\"\nvalidation = 64\n[train]\n";
    const Config reference = Settings::parse(task + a, "reference.toml").resolve();
    const Config arm = Settings::parse(task + b, "arm.toml").resolve();
    return why_not_comparable(reference, *make_task(reference), TaskFormat::language_model, arm, *make_task(arm),
                              TaskFormat::language_model, "val_loss");
  };
  CHECK(why("batch = 8\n", "batch = 16\n").empty());
  CHECK(why("batch = 8\nevaluate_batches = 4\n", "batch = 16\nevaluate_batches = 2\n").empty());
  CHECK(why("batch = 8\nevaluate_batches = 8\n", "batch = 16\nevaluate_batches = 9\n").empty()); // all, both
  CHECK_THAT(why("batch = 8\nevaluate_batches = 4\n", "batch = 16\nevaluate_batches = 4\n"),
             Contains("the reference on the first 32 held-out sequences"));
  CHECK_THAT(why("batch = 8\nevaluate_batches = 4\n", "batch = 8\n"), Contains("on all held-out sequences"));
}
