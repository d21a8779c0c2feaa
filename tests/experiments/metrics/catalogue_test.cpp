// Tests of the metrics' ranges, and of the summaries of what is measured in heads and layers.
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "tests/catch.hpp"

#include <limits>
#include <utility>
#include <vector>

using namespace heed;

TEST_CASE("Fractions are between 0 and 1, scores of translations between 0 and 100", "[metrics]") {
  const Config config = Settings::parse("task.kind = \"reverse\"\nmodel.kind = \"encoder_decoder\"\n[train]\n"
                                        "evaluate_beam = 2\ninspect = \"everything\"\n",
                                        "test")
                            .resolve();
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<const char*, std::pair<double, double>>> ranges{
      {"val_accuracy", {0, 1}},
      {"val_sequence_accuracy", {0, 1}},
      {"val_decoded_accuracy", {0, 1}},
      {"first_key_weight.mean", {0, 1}},
      {"val_bleu", {0, 100}},
      {"val_chrf", {0, 100}},
      {"val_loss", {0, infinite}},
      {"val_perplexity", {1, infinite}},
      {"head_importance.mean", {-infinite, infinite}}};
  for (const auto& [name, range] : ranges) {
    INFO(name);
    const auto metric = metric_named(config, name);
    REQUIRE(metric);
    CHECK(metric->low == range.first);
    CHECK(metric->high == range.second);
  }
}

TEST_CASE("Summaries are means over all heads, and over those of the first and of the last layer", "[metrics]") {
  std::vector<std::pair<std::string, double>> values{{"val_loss", 9},
                                                     {"score_variance.blocks.0.attention.0", 1},
                                                     {"score_variance.blocks.0.attention.1", 3},
                                                     {"score_variance.blocks.1.attention.0", 10},
                                                     {"score_variance.blocks.2.attention.0", 6},
                                                     {"score_variance.blocks.2.attention.1", 10},
                                                     {"rank_residual.blocks.0", 0.5},
                                                     {"rank_residual.blocks.1", 0.25},
                                                     {"weight_norm.blocks.0.ffn.expand", 7}}; // of a module: no summary
  const auto measured = values;
  add_summaries(values);
  auto expected = measured;
  expected.insert(expected.end(), {{"score_variance.mean", 6},
                                   {"score_variance.first", 2},
                                   {"score_variance.last", 8},
                                   {"rank_residual.mean", 0.375},
                                   {"rank_residual.first", 0.5},
                                   {"rank_residual.last", 0.25}});
  CHECK(values == expected);
}
