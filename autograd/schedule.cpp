#include "autograd/schedule.hpp"

#include <cmath>
#include <numbers>

namespace heed {

namespace {

// The fraction, in [0, 1], of the steps from the end of the warm-up to the last step (steps - 1) that is completed.
double progress(std::int64_t step, std::int64_t steps, std::int64_t warmup) {
  if (step <= warmup) return 0;
  if (step >= steps - 1) return 1;
  return static_cast<double>(step - warmup) / static_cast<double>(steps - 1 - warmup);
}

} // namespace

double warmup_factor(std::int64_t step, std::int64_t warmup) {
  return step < warmup ? static_cast<double>(step + 1) / static_cast<double>(warmup + 1) : 1;
}

double linear_factor(std::int64_t step, std::int64_t steps, std::int64_t warmup, double final_factor) {
  return 1 + (final_factor - 1) * progress(step, steps, warmup);
}

double cosine_factor(std::int64_t step, std::int64_t steps, std::int64_t warmup, double final_factor) {
  const double way = progress(step, steps, warmup);
  return final_factor + (1 - final_factor) * (1 + std::cos(std::numbers::pi * way)) / 2;
}

double noam_factor(std::int64_t step, std::int64_t warmup) {
  return step < warmup ? 1 : std::sqrt(static_cast<double>(warmup + 1) / static_cast<double>(step + 1));
}

} // namespace heed
