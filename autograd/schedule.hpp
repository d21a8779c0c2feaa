// Learning-rate schedules: the factor of the maximum learning rate at each step. They do not depend on the precision.
#pragma once

#include <cstdint>

namespace heed {

/// Warm-up, common to all schedules: the factor is multiplied by (step + 1) / (warmup + 1) while step < warmup. Steps
/// count from 0.
double warmup_factor(std::int64_t step, std::int64_t warmup);

/// Linear decay: from 1 at step `warmup`, the first after the warm-up, to `final_factor` at the last step, steps - 1.
/// Later steps have `final_factor`, too. If no step follows the warm-up, the factor is 1.
double linear_factor(std::int64_t step, std::int64_t steps, std::int64_t warmup, double final_factor);

/// The same with half a cosine: final + (1 - final) (1 + cos(pi p)) / 2 with p = (step - warmup) / (steps - 1 - warmup)
/// (Loshchilov and Hutter 2017, arXiv 1608.03983, without restarts).
double cosine_factor(std::int64_t step, std::int64_t steps, std::int64_t warmup, double final_factor);

/// Inverse square root after the warm-up: sqrt((warmup + 1) / (step + 1)), 1 at the end of the warm-up (Vaswani et al.
/// 2017, arXiv 1706.03762, section 5.3, where the rate is width^-0.5 min(n^-0.5, n warmup^-1.5) with n = step + 1).
double noam_factor(std::int64_t step, std::int64_t warmup);

} // namespace heed
