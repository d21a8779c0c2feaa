// What [train] inspect measures, by the names that metrics have.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// A measurement of each head, layer or module: its metrics are NAME.PART, as in score_variance.blocks.0.attention.1.
struct InspectedMetric {
  /// Whose they are. Those of heads and of layers have summaries: NAME.mean over all, NAME.first and NAME.last of the
  /// first and the last layer, of heads with the mean over its heads. Modules are too unlike for that.
  enum class Of { heads, layers, modules };

  std::string_view name;
  Of of;
  std::vector<std::string_view> words; ///< of train.inspect, with which it is measured
  std::string_view unit, meaning;
  double least = 0;
  std::optional<double> greatest = {};
};

std::span<const InspectedMetric> inspected_metrics();

/// Is it measured with this word of train.inspect?
bool is_inspected(std::string_view word, std::string_view name);

/// Adds to a line's values the summaries of what is measured of heads and layers in it, in the order of names' first
/// parts.
void add_summaries(std::vector<std::pair<std::string, double>>& values);

} // namespace heed
