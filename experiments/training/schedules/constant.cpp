#include "experiments/training/schedules.hpp"

namespace heed {

extern const ScheduleInfo schedule_constant{
    .about = {.name = "constant", .summary = "the highest rate throughout, after the warm-up"},
    .factor = [](std::int64_t, std::int64_t, std::int64_t, const OptionValues&) { return 1.0; }};

} // namespace heed
