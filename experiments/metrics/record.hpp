// A line of metrics.jsonl: what a run measured at a step.
#pragma once

#include "experiments/system/files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// A line of metrics.jsonl.
struct MetricsRecord {
  std::int64_t step = 0;   ///< optimiser steps done
  double seconds = 0;      ///< of the run so far, interruptions not counted
  std::int64_t tokens = 0; ///< trained on so far
  /// train_loss, val_loss, val_accuracy, learning_rate, ... Names with a dot are written as objects:
  /// val_accuracy_by_length.8 and .9 become "val_accuracy_by_length": {"8": 0.9, "9": 0.7}. val_accuracy_at.8 is of
  /// [train] evaluate_lengths.
  std::vector<std::pair<std::string, double>> values;
  /// The part of the seconds that steps took: no evaluation, look inside or checkpoint. None: from before it was kept.
  std::optional<double> step_seconds = std::nullopt;
};

/// As a line, without the newline. Values that are not finite are written as null, and read as NaN.
std::string to_json(const MetricsRecord& metrics);
Parsed<MetricsRecord> metrics_from_json(std::string_view line);

/// A line's value of a metric. time_per_token, which no line has, follows from its step_seconds and tokens; summaries of
/// what was looked at (rank_residual.mean) from what stands there of heads and layers.
std::optional<double> value_of(const MetricsRecord& line, std::string_view name);
/// All that `value_of` knows of a line.
std::vector<std::pair<std::string, double>> values_of(const MetricsRecord& line);

} // namespace heed
