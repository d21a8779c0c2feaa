#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/metrics/record.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

using namespace heed;

TEST_CASE("Names of metrics over lengths are one length or a range", "[metrics]") {
  const auto of = metric_of_lengths("val_accuracy_by_length.13-24");
  REQUIRE(of);
  CHECK(of->family == by_length_metric);
  CHECK(of->first == 13);
  CHECK(of->last == 24);
  const auto one = metric_of_lengths("val_sequence_accuracy_by_length.8");
  REQUIRE(one);
  const auto at = metric_of_lengths("val_loss_at.13-24");
  REQUIRE(at);
  CHECK(at->family == "val_loss_at");
  CHECK(at->last == 24);
  CHECK_FALSE(at->of_split());
  CHECK(one->first == 8);
  CHECK(one->last == 8);
  for (const char* wrong : {"val_accuracy_by_length", "val_accuracy_by_length.", "val_accuracy_by_length.24-13",
                            "val_accuracy_by_length.8-", "val_accuracy_by_length.8-8", "val_accuracy_by_length.-8",
                            "val_accuracy_by_length.8x", "val_accuracy.8", "val_loss_by_length.8", "train_loss_at.8-9",
                            "val_loss_at.9-8", "val_loss_at"})
    CHECK_FALSE(metric_of_lengths(wrong));
}

TEST_CASE("A range's value is the mean over the lengths that the record has", "[metrics]") {
  MetricsRecord line;
  line.values = {{"val_accuracy", 0.1},
                 {"val_accuracy_by_length.8", 1.0},
                 {"val_accuracy_by_length.9", 0.5},
                 {"val_accuracy_by_length.12", 0.0},
                 {"val_sequence_accuracy_by_length.9", 0.25},
                 {"val_loss_at.8", 4.0},
                 {"val_loss_at.16", 2.0},
                 {"val_loss_at.24", 1.0},
                 {"val_accuracy_at.16", 0.0}};
  CHECK(value_of(line, "val_loss_at.13-24") == 1.5);
  CHECK(value_of(line, "val_loss_at.8-15") == 4.0);
  CHECK_FALSE(value_of(line, "val_loss_at.9-15"));
  CHECK_FALSE(value_of(line, "val_loss_at.12"));
  CHECK(value_of(line, "val_accuracy_by_length.9") == 0.5);
  CHECK(value_of(line, "val_accuracy_by_length.8-9") == 0.75);
  CHECK(value_of(line, "val_accuracy_by_length.8-100") == 0.5);
  CHECK(value_of(line, "val_sequence_accuracy_by_length.8-12") == 0.25);
  CHECK_FALSE(value_of(line, "val_accuracy_by_length.10-11"));
  CHECK_FALSE(value_of(line, "val_accuracy_by_length.10"));
}

TEST_CASE("They are metrics of a configuration that evaluates by length", "[metrics]") {
  const Config with =
                   Settings::parse("task.kind = \"reverse\"\n[train]\nevaluate_by_length = true\n", "test").resolve(),
               without = Settings::parse("task.kind = \"reverse\"\n", "test").resolve();
  const auto metric = metric_named(with, "val_accuracy_by_length.24");
  REQUIRE(metric);
  CHECK(metric->higher_is_better());
  CHECK(metric->length == 24);
  CHECK(metric->high == 1);
  CHECK_FALSE(metric_named(with, "val_accuracy_by_length.13-24")->length);
  CHECK(metric_named(with, "val_sequence_accuracy_by_length.13-24"));
  CHECK_FALSE(metric_named(without, "val_accuracy_by_length.24"));
}

TEST_CASE("The mean over some of train.evaluate_lengths is a metric", "[metrics]") {
  const Config config =
      Settings::parse("task.kind = \"reverse\"\n[train]\nevaluate_lengths = [32, 8, 16, 24]\n", "test").resolve();
  const auto metric = metric_named(config, "val_accuracy_at.13-24");
  REQUIRE(metric);
  CHECK(metric->name == "val_accuracy_at.13-24");
  CHECK(metric->higher_is_better());
  CHECK(metric->high == 1);
  CHECK_FALSE(metric->length);
  CHECK(metric->description.find("16, 24:") != std::string::npos);
  CHECK_FALSE(metric_named(config, "val_loss_at.13-24")->higher_is_better());
  CHECK_FALSE(metric_named(config, "val_loss_at.9-15"));
  CHECK_FALSE(metric_named(config, "val_loss_at.12"));
  CHECK_FALSE(metric_named(config, "val_bleu_at.13-24"));
}

TEST_CASE("A name that no configuration's runs measure is known without a configuration", "[metrics]") {
  for (const char* some : {"val_loss", "val_bleu", "val_bits_per_character", "val_accuracy_at.7", "val_loss_at.7-9",
                           "val_accuracy_by_length.7", "rank_residual.blocks.3", "rank_residual.mean", "train_loss"})
    CHECK(may_be_metric(some));
  for (const char* none : {"val_los", "", "val_lossy_at.7", "val_loss_at.", "rank_residual", "rank_residual.", "loss",
                           "val_loss_by_length.7"})
    CHECK_FALSE(may_be_metric(none));
  for (const char* task : {"reverse", "copy", "sort", "recall"})
    for (const char* inspect : {"none", "everything"}) {
      const Config config = Settings::parse(fmt::format("task.kind = \"{}\"\n[train]\nevaluate_lengths = [3, 5]\n"
                                                        "inspect = \"{}\"\nevaluate_random_batches = 1\n",
                                                        task, inspect),
                                            "test")
                                .resolve();
      for (const Metric& metric : metrics_of(config)) CHECK(may_be_metric(metric.name));
    }
}
