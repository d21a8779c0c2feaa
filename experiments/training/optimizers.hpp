// The optimisers and schedules that a configuration can name, with their options.
#pragma once

#include "autograd/optimizer.hpp"
#include "experiments/config/config.hpp"

#include <cstdint>

namespace heed {

/// The learning rate of a step, counted from 0, as [train] and [train.SCHEDULE] say.
double learning_rate(const Config& config, std::int64_t step);

namespace HEED_REAL {
/// The optimiser of [train] optimizer with the options of its table.
Optimizer make_optimizer(const Config& config, std::int64_t extent);
} // namespace HEED_REAL

} // namespace heed
