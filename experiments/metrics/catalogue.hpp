// Which metrics a configuration's runs have, and the catalogue of measurements of [train] inspect, by metric name.
#pragma once

#include "experiments/metrics/metric.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

struct Config;

/// The metrics of the configuration's runs, the best known first.
std::vector<Metric> metrics_of(const Config& config);
/// The metric of this name: one of `metrics_of`, or a measurement of a single head, module or layer
/// ("rank_residual.blocks.3"), whether or not the model has this part. Empty: no run of the configuration measures it.
std::optional<Metric> metric_named(const Config& config, const std::string& name);
/// The names of `metrics_of`, over all configurations, without those of single lengths and parts of the model.
std::vector<std::string> metric_names();
/// Whether some configuration's runs have a metric of this name. The parts of a model are not checked.
bool may_be_metric(const std::string& name);

/// The metrics that are means over the examples of validation, or over their tokens. Others are no mean (perplexity,
/// BLEU), or of other sequences.
std::span<const std::string_view> means_over_examples();
bool is_mean_over_examples(std::string_view metric);

/// Whether each example has several targets, so that the accuracy of whole sequences is meaningful.
bool has_sequence_accuracy(const Config& config);
/// Whether tokens are predicted.
bool has_perplexity(const Config& config);
/// Whether the tokens are the characters of a text.
bool has_bits_per_character(const Config& config);

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
  bool of_recurrences = false; ///< only heads of recurrences have it
};

std::span<const InspectedMetric> inspected_metrics();

/// Whether this choice of train.inspect enables the measurement.
bool is_inspected(std::string_view word, std::string_view name);

/// Adds the summaries of heads and layers to a record's values, in the order in which the names first appear.
void add_summaries(std::vector<std::pair<std::string, double>>& values);

} // namespace heed
