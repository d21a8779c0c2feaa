// The optimisers and schedules that a configuration can name, with their options.
#pragma once

#include "autograd/optimizer.hpp"
#include "experiments/config/config.hpp"
#include "options/variant.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace heed {

struct Checkpoint;

/// The learning rate of a step, counted from 0, as [train] and [train.SCHEDULE] say.
double learning_rate(const Config& config, std::int64_t step);

namespace HEED_REAL {

/// An optimiser's entry in the registry; the record stands in the optimiser's own file in optimizers/.
struct OptimizerInfo {
  Variant about;
  /// For these parameters. Throws heed::Refused where the options do not go together.
  std::unique_ptr<Optimizer> (*make)(const OptionValues& options, const Parameters& parameters);
};

/// All registered optimisers, in Meson's order (generated).
std::span<const OptimizerInfo* const> optimizers();

/// The optimiser of [train] optimizer with the options of its table.
std::unique_ptr<Optimizer> make_optimizer(const Config& config, const Parameters& parameters);

/// Puts the optimiser's state into a checkpoint, each array named `optimizer.NAME`; and takes it from there, which
/// throws heed::Failed where an array is missing, or of another shape or precision.
void store_state(Optimizer& optimizer, const Parameters& parameters, Checkpoint& to);
void load_state(Optimizer& optimizer, const Parameters& parameters, const Checkpoint& from);

} // namespace HEED_REAL

} // namespace heed
