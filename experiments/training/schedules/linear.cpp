#include "autograd/schedule.hpp"
#include "experiments/training/schedules/decay_table.hpp"

namespace heed {

extern const ScheduleInfo schedule_linear{
    .about = {.name = "linear",
              .summary = "linearly down to final_factor times the highest rate at the last step",
              .options = decay_table().options()},
    .factor = [](std::int64_t step, std::int64_t steps, std::int64_t warmup, const OptionValues& options) {
      return linear_factor(step, steps, warmup, decay_table().read(options).final_factor);
    }};

} // namespace heed
