// Schedules: how the learning rate goes on from its highest. One file each in schedules/, registered like optimisers.
#pragma once

#include "options/variant.hpp"

#include <cstdint>
#include <span>

namespace heed {

struct ScheduleInfo {
  Variant about;
  /// What the highest rate is multiplied with, but for the warm-up, which is the same for all.
  double (*factor)(std::int64_t step, std::int64_t steps, std::int64_t warmup, const OptionValues& options);
};

/// All registered schedules, in Meson's order (generated).
std::span<const ScheduleInfo* const> schedules();

} // namespace heed
