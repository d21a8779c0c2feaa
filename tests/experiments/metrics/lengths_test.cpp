#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/metrics/record.hpp"
#include "tests/catch.hpp"

using namespace heed;

TEST_CASE("Names of metrics over lengths are one length or a range", "[metrics]") {
  const auto of = metric_of_lengths("val_accuracy_by_length.13-24");
  REQUIRE(of);
  CHECK(of->family == by_length_metric);
  CHECK(of->first == 13);
  CHECK(of->last == 24);
  const auto one = metric_of_lengths("val_sequence_accuracy_by_length.8");
  REQUIRE(one);
  CHECK(one->first == 8);
  CHECK(one->last == 8);
  for (const char* wrong : {"val_accuracy_by_length", "val_accuracy_by_length.", "val_accuracy_by_length.24-13",
                            "val_accuracy_by_length.8-", "val_accuracy_by_length.8-8", "val_accuracy_by_length.-8",
                            "val_accuracy_by_length.8x", "val_accuracy.8", "val_loss_by_length.8"})
    CHECK_FALSE(metric_of_lengths(wrong));
}

TEST_CASE("A range's value is the mean over the lengths that the record has", "[metrics]") {
  MetricsRecord line;
  line.values = {{"val_accuracy", 0.1},
                 {"val_accuracy_by_length.8", 1.0},
                 {"val_accuracy_by_length.9", 0.5},
                 {"val_accuracy_by_length.12", 0.0},
                 {"val_sequence_accuracy_by_length.9", 0.25}};
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
