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
  const std::string text = "train.steps = 1\ntrain.inspect = \"everything\"\nmodel.width = 8\nmodel.heads = 2\n"
                           "model.layers = 2\ntask.validation = 2\ntask.copy.length = 3\n" +
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
                    Contains("measured where train.inspect is one of layers, everything, and it is none"));
  CHECK_THROWS_WITH(metric_of(looking, "score_variance.mean"), Contains("one of scores, everything, and it is layers"));
  CHECK_THROWS_WITH(metric_of(looking, "rank_residul.last"), Contains("nearest: rank_residual.last"));
  CHECK_THROWS_WITH(metric_of(looking, "steps_to(rank_residual.last, 1)"), Contains("no evaluations on the way"));
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
  CHECK_THAT(refusal("val_loss_at.6", "train.evaluate_lengths = [5]\nposition.kind = \"none\"\n"),
             Contains("nearest: val_loss_at.5"));
}

TEST_CASE("tuning does not choose by what nobody wants high or low", "[sweep][metric]") {
  const std::string text = "train.inspect = \"layers\"\ntrain.steps = 1\nmodel.width = 8\ntask.copy.length = 3\n"
                           "[report]\nmetric = \"rank_residual.mean\"\n[sweep]\nseeds = [0, 1]\n[sweep.tune]\n"
                           "seeds = [8]\ngrid = { \"train.learning_rate\" = [0.1, 0.2] }\n";
  Tasks tasks;
  CHECK_THROWS_WITH(prepare(Settings::parse(text, "test.toml"), "test", tasks),
                    Contains("neither more nor less is better") && Contains("report.also"));
}
