#include "experiments/training/schedules.hpp"

#include "autograd/schedule.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/optimizers.hpp"

namespace heed {

double learning_rate(const Config& config, std::int64_t step) {
  const TrainOptions& t = config.train;
  const ScheduleInfo& schedule = variant_named(schedules(), t.schedule, "[train] there is no schedule");
  return t.learning_rate * warmup_factor(step, t.warmup) *
         schedule.factor(step, t.steps, t.warmup, config.schedule_options);
}

} // namespace heed
