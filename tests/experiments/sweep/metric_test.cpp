// Tests of metrics by name: those that the configuration determines, and those that only the model knows.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/sweep/preparation.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

using namespace heed;
using Catch::Contains;

namespace {

/// The error message for a sweep of tiny models that is compared by the metric; empty if it is accepted.
std::string refusal(const std::string& metric, const std::string& more = "") {
  const std::string text = std::string("train.steps = 1\ntrain.inspect = \"everything\"\nmodel.width = 8\n") +
                           "model.heads = 2\nmodel.layers = 2\n" +
                           (more.find("task.") == more.npos ? "task.validation = 2\ntask.copy.length = 3\n" : "") +
                           more + "[report]\nmetric = \"" + metric +
                           "\"\n[sweep]\nseeds = [0, 1]\n[[sweep.block]]\ngrid = { \"model.layers\" = [2, 1] }\n";
  Tasks tasks;
  try {
    prepare(Settings::parse(text, "test.toml"), "test", tasks);
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "";
}

} // namespace

TEST_CASE("what is looked at inside a model is a metric where it is looked at", "[sweep][metric]") {
  const Config looking = config_from("train.inspect = \"layers\"\n"), blind = config_from("");
  CHECK(metric_of(looking, "rank_residual.last").name == "rank_residual.last");
  CHECK_FALSE(metric_of(looking, "rank_residual.last").is_goal());
  CHECK_THAT(metric_of(looking, "rank_residual.last").description, Contains("of the last layer"));
  CHECK(metric_of(looking, "gradient_norm.blocks.0.ffn.expand").name == "gradient_norm.blocks.0.ffn.expand");
  CHECK_THROWS_WITH(metric_of(blind, "rank_residual.last"),
                    Contains("measured only if train.inspect is one of layers, everything, but it is none"));
  CHECK_THROWS_WITH(metric_of(looking, "score_variance.mean"), Contains("one of scores, everything, but it is layers"));
  CHECK_THROWS_WITH(metric_of(looking, "rank_residul.last"), Contains("nearest: rank_residual.last"));
  CHECK_THROWS_WITH(metric_of(looking, "steps_to(rank_residual.last, 1)"), Contains("is measured only at the end"));
}

TEST_CASE("a single layer's metric must be there in every arm's model", "[sweep][metric]") {
  CHECK(refusal("rank_residual.last").empty());
  CHECK(refusal("score_variance.blocks.0.attention.1").empty());
  CHECK_THAT(refusal("score_variance.blocks.0.attention.2"), Contains("is not measured of this model; allowed: "
                                                                      "score_variance.blocks.0.attention.0") &&
                                                                 Contains("nearest: score_variance.blocks.0"));
  CHECK_THAT(refusal("rank_residual.blocks.1"),
             Contains("rank_residual.blocks.1") && Contains("in the arm \"layers = 1\""));
}

TEST_CASE("what is measured at a length is a metric of every model", "[sweep][metric]") {
  CHECK(refusal("val_loss_at.5", "train.evaluate_lengths = [5]\nposition.kind = \"none\"\n").empty());
  CHECK(refusal("val_loss_on.long").find("val_loss_on.long") != std::string::npos); // this config has no such set
  CHECK_THAT(refusal("val_los_on.long"), Contains("val_los_on.long"));
  CHECK_THAT(refusal("val_loss_at.6", "train.evaluate_lengths = [5]\nposition.kind = \"none\"\n"),
             Contains("nearest: val_loss_at.5"));
}

TEST_CASE("a metric of sequences of a length is refused if no sequence has the length", "[sweep][metric]") {
  const std::string by_length = "train.evaluate_by_length = true\ntask.validation = 64\ntask.copy.min_length = 2\n"
                                "train.evaluate_every = 1\n";
  const auto by = [&](const std::string& metric) { return refusal(metric, by_length + "task.copy.length = 6\n"); };
  CHECK(by("val_accuracy_by_length.2").empty());
  CHECK(by("val_accuracy_by_length.6").empty());
  CHECK(by("val_accuracy_by_length.6-99").empty());
  CHECK_THAT(by("val_accuracy_by_length.7"),
             Contains("would never have a value: no sequence of the validation split has "
                      "length 7; their lengths are from 2 to 6"));
  CHECK_THAT(by("val_accuracy_by_length.7-99"), Contains("a length from 7 to 99"));
  CHECK_THAT(by("steps_to(val_accuracy_by_length.1, 0.5)"), Contains("length 1; their"));
  CHECK_THAT(by("val_sequence_accuracy_by_length.99"), Contains("length 99"));
  const std::string one_row = "train.evaluate_by_length = true\ntask.validation = 1\ntask.copy.length = 3\n";
  CHECK(refusal("val_accuracy_by_length.3", one_row).empty());
  CHECK_THAT(refusal("val_accuracy_by_length.4", one_row), Contains("has length 4; all have length 3"));
}

TEST_CASE("a mean over lengths is over the same lengths in every arm", "[sweep][metric]") {
  const std::string lengths = "train.evaluate_lengths = [5, 7]\nposition.kind = \"none\"\n";
  CHECK(refusal("val_loss_at.4-6", lengths).empty());
  CHECK_THAT(refusal("val_loss_at.8-9", lengths),
             Contains("test.toml:") && Contains("from 8 to 9, but it has only 5, 7; add lengths"));
  CHECK_THAT(refusal("val_loss_at.8-9"), Contains("but it has none"));
  const std::string text = "train.steps = 1\nmodel.width = 8\ntask.copy.length = 3\n[report]\nmetric = "
                           "\"val_loss_at.4-9\"\n[sweep]\nseeds = [0, 1]\n[[sweep.block]]\n"
                           "grid = { \"train.evaluate_lengths\" = [[5, 8], [5, 7]] }\n";
  Tasks tasks;
  CHECK_THROWS_WITH(prepare(Settings::parse("train.evaluate_lengths = [5, 8]\nposition.kind = \"none\"\n" + text,
                                            "test.toml"),
                            "test", tasks),
                    Contains("over the lengths 5, 7") && Contains("the reference's over 5, 8"));
}

TEST_CASE("a metric's mistakes stand with their places, beside other mistakes", "[sweep][metric]") {
  const auto problems = [](const std::string& text) {
    Tasks tasks;
    try {
      prepare(Settings::parse(text, "test.toml"), "test", tasks);
    } catch (const Refused& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  CHECK_THAT(problems("[report]\nmetric = \"acc\"\nalso = [\"val_lss\"]\n[train]\nstep = 3\n"),
             Contains("test.toml:2:10: report.metric is 'acc', which no run measures; in Heed, this is val_accuracy") &&
                 Contains("\ntest.toml:3:8: an entry of report.also is 'val_lss', which no run measures; did you mean "
                          "'val_loss'?") &&
                 Contains("\ntest.toml:5:1: [train] has no option 'step'"));
  CHECK_THAT(problems("[report]\nmetric = \"val_bleu\"\nalso = [\"val_loss\", \"val_loss\", \"val_loss_at.9\"]\n"),
             Contains("test.toml:2:1: report.metric: \"val_bleu\" is not measured here") &&
                 Contains("\ntest.toml:3:1: report.also: \"val_loss\" is compared already") &&
                 Contains("\ntest.toml:3:1: report.also: \"val_loss_at.9\" is not measured"));
  CHECK_THAT(problems("report.metric = \"steps_to(val_loss)\"\n"), Contains("\"steps_to(val_accuracy, 0.95)\""));
}

TEST_CASE("tuning does not choose by what nobody wants high or low", "[sweep][metric]") {
  const std::string text = "train.inspect = \"layers\"\ntrain.steps = 1\nmodel.width = 8\ntask.copy.length = 3\n"
                           "[report]\nmetric = \"rank_residual.mean\"\n[sweep]\nseeds = [0, 1]\n[sweep.tune]\n"
                           "seeds = [8]\ngrid = { \"train.learning_rate\" = [0.1, 0.2] }\n";
  Tasks tasks;
  CHECK_THROWS_WITH(prepare(Settings::parse(text, "test.toml"), "test", tasks),
                    Contains("neither more nor less is better") && Contains("report.also"));
}
