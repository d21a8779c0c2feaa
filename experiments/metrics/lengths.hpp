// Names of metrics for one length: NAME_at.N for sequences that the task generates with length N
// (train.evaluate_lengths), and NAME_by_length.N for the split's own sequences of length N (train.evaluate_by_length).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The metric for accuracies by the sequences' own lengths.
inline constexpr std::string_view by_length_metric = "val_accuracy_by_length";
/// Likewise for whole sequences.
inline constexpr std::string_view sequences_by_length_metric = "val_sequence_accuracy_by_length";

/// "val_loss_at.64" and "val_accuracy_by_length.8".
std::string name_at_length(std::string_view metric, std::int64_t length);
std::string name_by_length(std::string_view metric, std::int64_t length);

/// "val_loss_at": the part before the dot, common to all lengths of val_loss. A name that already is such a family is
/// returned unchanged.
std::string family_at_lengths(std::string_view metric);
/// "val_loss" for "val_loss_at".
std::string metric_of_family(std::string_view family);

struct NameOfLength {
  std::string_view family; ///< val_loss_at, val_accuracy_by_length
  std::int64_t length = 0;
};
/// Parses a name of the validation split's metrics by length; empty for any other name.
std::optional<NameOfLength> name_of_length(std::string_view name);

/// A metric over sequences of some lengths: "val_accuracy_by_length.24", and "val_accuracy_by_length.13-24", the mean
/// over the lengths from 13 to 24 that the split has. Likewise "val_loss_at.13-24", over the lengths of
/// train.evaluate_lengths.
struct MetricOfLengths {
  std::string_view family; ///< val_accuracy_by_length, val_sequence_accuracy_by_length, val_loss_at, ...
  std::int64_t first = 0, last = 0;

  bool is_range() const { return first != last; }
  /// Whether the sequences are the split's own.
  bool of_split() const { return family == by_length_metric || family == sequences_by_length_metric; }
};
/// Parses such a name; empty for any other name.
std::optional<MetricOfLengths> metric_of_lengths(std::string_view name);

/// The evaluated lengths that the metric covers, each once, the smallest first.
std::vector<std::int64_t> lengths_within(const MetricOfLengths& of, std::vector<std::int64_t> evaluated);

} // namespace heed
