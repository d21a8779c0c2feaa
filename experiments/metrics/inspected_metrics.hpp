// The catalogue of measurements of [train] inspect, by metric name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// A measurement of each head, layer or module. Its metrics are called NAME.PART, such as
/// score_variance.blocks.0.attention.1.
struct InspectedMetric {
  /// The measured parts. Metrics of heads and of layers have summaries: NAME.mean over all parts, NAME.first and
  /// NAME.last of the first and the last layer (for heads, the mean over the layer's heads). Modules have no summaries,
  /// because they are not comparable with each other.
  enum class Of { heads, layers, modules };

  std::string_view name;
  Of of;
  std::vector<std::string_view> words; ///< the choices of train.inspect that enable the measurement
  std::string_view unit, meaning;
  double least = 0;
  std::optional<double> greatest = {};
};

std::span<const InspectedMetric> inspected_metrics();

/// Whether this choice of train.inspect enables the measurement.
bool is_inspected(std::string_view word, std::string_view name);

/// Adds the summaries of heads and layers to a record's values, in the order in which the names first appear.
void add_summaries(std::vector<std::pair<std::string, double>>& values);

} // namespace heed
