#include "autograd/schedule.hpp"
#include "experiments/training/schedules.hpp"

namespace heed {

extern const ScheduleInfo schedule_noam{
    .about = {.name = "noam",
              .summary = "proportional to the inverse square root of the step, after the warm-up",
              .paper = "Vaswani et al. 2017, arXiv 1706.03762, section 5.3"},
    .factor = [](std::int64_t step, std::int64_t, std::int64_t warmup, const OptionValues&) {
      return noam_factor(step, warmup);
    }};

} // namespace heed
