// The runs that measure where variance comes from: [sweep] vary, vary_values and vary_fixings.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/sweep/arm_runs.hpp"
#include "experiments/sweep/plan.hpp"

#include <map>
#include <optional>
#include <string>

namespace heed {

/// The runs of the reference in which one source of chance varies and the others are fixed.
///
/// Fixing f has the f-th seed of the sweep (further fixings have the least numbers that are no seeds). Its first run is
/// that seed's replicate, if there is one. Of a source that does not follow `seed`, the first fixing has the file's
/// value and fixing f has 10000 f. Further values of a source are 10000 f + 1, 10000 f + 2, ..., so each value occurs
/// in one fixing only, and the fixings are independent. More values, fixings, sources or seeds (of 0, 1, 2, ...) add
/// runs and change none.
///
/// Throws heed::Refused for a source without effect, for numbers without sources, for [sweep.tune], and for more than
/// 10,000 runs.
/// @param plan  with its arms and runs
/// @return empty if [sweep] names no sources
std::optional<Variation> make_variation(const Settings& reference, const Plan& plan, Identities& identities);

/// What messages call the runs of a variation.
class VariationLabels {
public:
  explicit VariationLabels(const Plan& plan);
  /// "fixing 1, init 10001: ", before the arm and the seed of a run; empty for a run that is no part of a variation.
  std::string before(const PlannedRun& run) const;

private:
  std::map<std::string, std::string> labels_; ///< by ID
};

} // namespace heed
