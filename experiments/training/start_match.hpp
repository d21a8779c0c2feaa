// The weights that a run takes from another run ([train] start): which of them have the names and shapes of the new
// model's parameters.
#pragma once

#include "experiments/training/training.hpp"

#include <span>
#include <string>
#include <vector>

namespace heed {

/// The parameters of a new model and the weights of a start, by name.
struct StartMatch {
  std::vector<std::string> taken;    ///< same name and shape
  std::vector<std::string> reshaped; ///< same name, other shape: "position.table ([32, 8] here, [16, 8] there)"
  std::vector<std::string> missing;  ///< only in the new model
  std::vector<std::string> unused;   ///< only in the start

  bool all() const { return reshaped.empty() && missing.empty() && unused.empty(); }
  bool operator==(const StartMatch&) const = default;
};

StartMatch match_weights(std::span<const ParameterShape> parameters, const Checkpoint& weights);

/// The taken weights in this precision, without other tensors and metadata. float32 is converted to float64 exactly,
/// float64 to the nearest float32. Throws heed::Refused if a number is too large for float32.
Checkpoint taken_weights(const StartMatch& match, Checkpoint&& weights, bool float64);

/// The parameters that are not as in the start, in words: "1 parameter has another shape: ...; 2 parameters are not in
/// the start: ..., ...". Long lists are cut. Empty if all agree.
std::string differences_in_words(const StartMatch& match);

} // namespace heed
