// A record of metrics.jsonl: what a run measured at a step. Converts records to and from JSON.
#pragma once

#include "experiments/system/files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// One line of metrics.jsonl.
struct MetricsRecord {
  std::int64_t step = 0;   ///< number of optimiser steps so far
  double seconds = 0;      ///< run time so far, without interruptions
  std::int64_t tokens = 0; ///< number of training tokens so far
  /// train_loss, val_loss, val_accuracy, learning_rate, ... Names with a dot are written as objects:
  /// val_accuracy_by_length.8 and .9 become "val_accuracy_by_length": {"8": 0.9, "9": 0.7}. val_accuracy_at.8 belongs
  /// to [train] evaluate_lengths.
  std::vector<std::pair<std::string, double>> values;
  /// The part of the seconds spent in training steps, without evaluation, inspection and checkpoints. Empty: written by
  /// an earlier version that did not record it.
  std::optional<double> step_seconds = std::nullopt;
};

/// The record as one line without the newline. Values that are not finite are written as null, and read as NaN.
std::string to_json(const MetricsRecord& metrics);
Parsed<MetricsRecord> metrics_from_json(std::string_view line);

/// The value that a record has under this name.
std::optional<double> written_value(const MetricsRecord& line, std::string_view name);
/// The value of a metric in a record. time_per_token is not stored; it is computed from step_seconds and tokens.
/// Summaries of inspected values (rank_residual.mean) are computed from the values of heads and layers.
std::optional<double> value_of(const MetricsRecord& line, std::string_view name);
/// All values that `value_of` can return for a record.
std::vector<std::pair<std::string, double>> values_of(const MetricsRecord& line);

} // namespace heed
