// The registry of learning-rate schedules. Each has its own file in schedules/ and is registered like an optimiser.
#pragma once

#include "options/variant.hpp"

#include <cstdint>
#include <span>

namespace heed {

struct ScheduleInfo {
  Variant about;
  /// The factor of the peak learning rate at a step. Warm-up is not included, because it is the same for all schedules.
  double (*factor)(std::int64_t step, std::int64_t steps, std::int64_t warmup, const OptionValues& options);
};

/// All registered schedules, in Meson's order (generated).
std::span<const ScheduleInfo* const> schedules();

} // namespace heed
