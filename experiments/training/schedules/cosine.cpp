#include "autograd/schedule.hpp"
#include "experiments/training/schedules/decay_table.hpp"

namespace heed {

extern const ScheduleInfo schedule_cosine{
    .about = {.name = "cosine",
              .summary = "along half a cosine down to final_factor times the highest rate at the last step",
              .paper = "Loshchilov and Hutter 2017, arXiv 1608.03983, without restarts",
              .options = decay_table().options()},
    .factor = [](std::int64_t step, std::int64_t steps, std::int64_t warmup, const OptionValues& options) {
      return cosine_factor(step, steps, warmup, decay_table().read(options).final_factor);
    }};

} // namespace heed
