#include "autograd/error.hpp"
#include "autograd/schedule.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/variants.hpp"

#include <fmt/format.h>

namespace heed {

namespace {

struct Decay {
  double final_factor = 0.0;
};

const OptionTable<Decay>& decay_table() {
  static const auto t = option_table<Decay>(
      option("final_factor", &Decay::final_factor, "the rate at the last step, as a fraction of the highest")
          .at_least(0).at_most(1));
  return t;
}

struct Schedule {
  Variant about;
  /// What the highest rate is multiplied with, but for the warm-up, which is the same for all.
  double (*factor)(std::int64_t step, std::int64_t steps, std::int64_t warmup, const OptionValues& options);
};

const std::vector<Schedule>& schedules() {
  static const std::vector<Schedule> all{
      {{"constant", "the highest rate throughout, after the warm-up", "", "", "", {}, {}},
       [](std::int64_t, std::int64_t, std::int64_t, const OptionValues&) { return 1.0; }},
      {{"linear", "on a straight line down to final_factor of the highest rate at the last step", "", "", "",
        decay_table().options(), {}},
       [](std::int64_t step, std::int64_t steps, std::int64_t warmup, const OptionValues& options) {
         return linear_factor(step, steps, warmup, decay_table().read(options).final_factor);
       }},
      {{"cosine", "on half a cosine down to final_factor of the highest rate at the last step",
        "Loshchilov and Hutter 2017, arXiv 1608.03983, without restarts", "", "", decay_table().options(), {}},
       [](std::int64_t step, std::int64_t steps, std::int64_t warmup, const OptionValues& options) {
         return cosine_factor(step, steps, warmup, decay_table().read(options).final_factor);
       }},
      {{"noam", "with the inverse square root of the step, after the warm-up",
        "Vaswani et al. 2017, arXiv 1706.03762, section 5.3", "", "", {}, {}},
       [](std::int64_t step, std::int64_t, std::int64_t warmup, const OptionValues&) {
         return noam_factor(step, warmup);
       }},
  };
  return all;
}

} // namespace

double learning_rate(const Config& config, std::int64_t step) {
  const TrainOptions& t = config.train;
  for (const Schedule& s : schedules())
    if (s.about.name == t.schedule)
      return t.learning_rate * warmup_factor(step, t.warmup) *
             s.factor(step, t.steps, t.warmup, config.schedule_options);
  throw Failed(fmt::format("[train] there is no schedule '{}'", t.schedule));
}

VariantFamily schedule_family() {
  VariantFamily family{"learning-rate schedule", "train", "schedule", {}};
  for (const Schedule& s : schedules()) family.variants.push_back(&s.about);
  return family;
}

} // namespace heed
