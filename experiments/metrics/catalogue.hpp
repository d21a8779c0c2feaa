// Determines which metrics a configuration's runs have.
#pragma once

#include "experiments/metrics/metric.hpp"

#include <optional>
#include <string>
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

/// Whether each row is an example with several targets, so that the accuracy of whole sequences is meaningful.
bool has_sequence_accuracy(const Config& config);
/// Whether tokens are predicted.
bool has_perplexity(const Config& config);
/// Whether the tokens are the characters of a text.
bool has_bits_per_character(const Config& config);

} // namespace heed
