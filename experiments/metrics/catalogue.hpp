// Which metrics a configuration's runs have.
#pragma once

#include "experiments/metrics/metric.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heed {

struct Config;

/// The metrics that the configuration's runs will have, best known first.
std::vector<Metric> metrics_of(const Config& config);
/// One of these, or what is measured of a single head, module or layer ("rank_residual.blocks.3"), whether the model has
/// it or not; none: no run of the configuration measures it.
std::optional<Metric> metric_named(const Config& config, const std::string& name);

/// Are the rows whole examples of several targets each, so that it means something to have all of one right?
bool has_sequence_accuracy(const Config& config);
/// Does the model put out a sequence of its own for an input?
bool puts_out_sequences(const Config& config);
/// Are tokens predicted?
bool has_perplexity(const Config& config);
/// Are the tokens the characters of a running text?
bool has_bits_per_character(const Config& config);

} // namespace heed
