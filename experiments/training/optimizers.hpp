// The registry of optimisers that a configuration can name, and the learning rate of each step.
#pragma once

#include "autograd/optimizer.hpp"
#include "experiments/config/config.hpp"
#include "options/variant.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace heed {

struct Checkpoint;

/// The learning rate of a step, counted from 0, by [train] and [train.SCHEDULE].
double learning_rate(const Config& config, std::int64_t step);

namespace HEED_REAL {

/// An optimiser's entry in the registry. It is defined in the optimiser's own file in optimizers/.
struct OptimizerInfo {
  Variant about;
  /// Makes the optimiser for these parameters. Throws heed::Refused if the options contradict each other.
  std::unique_ptr<Optimizer> (*make)(const OptionValues& options, const Parameters& parameters);
};

/// OptimizerInfo::make of a class that is made of the options of `table`.
template <class Made, auto table>
std::unique_ptr<Optimizer> made_of(const OptionValues& values, const Parameters& parameters) {
  return std::make_unique<Made>(table().read(values), parameters);
}

/// All registered optimisers, in Meson's order (generated).
std::span<const OptimizerInfo* const> optimizers();

/// Makes the optimiser of [train] optimizer with the options of its table.
std::unique_ptr<Optimizer> make_optimizer(const Config& config, const Parameters& parameters);

/// store_state writes the optimiser's state into a checkpoint, each array as `optimizer.NAME`. load_state reads it back
/// and throws heed::Failed if an array is missing or has a different shape or precision.
void store_state(Optimizer& optimizer, const Parameters& parameters, Checkpoint& to);
void load_state(Optimizer& optimizer, const Parameters& parameters, const Checkpoint& from);

} // namespace HEED_REAL

} // namespace heed
