// A plan with its estimate as data, and as a preregistration.
#pragma once

#include "experiments/actions/plan_estimate.hpp"
#include "experiments/actions/result_schema.hpp"
#include "experiments/report/seed_advice.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/variation.hpp"

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

HEED_RESULT(EffectRow,
            ((effect, "the mean difference in standard deviations of the differences (d_z)"))(
                (seeds, "seeds that find it in 80 of 100 sweeps, if one arm is compared"))(
                (seeds_each, "seeds that find it in 80 of 100 sweeps, for each of the plan's arms"))(
                (seeds_unpaired, "seeds that the unpaired test needs, if runs of one seed are uncorrelated"))(
                (power_paired, "how often the plan's seeds find it for an arm, by the paired test"))(
                (power_unpaired, "how often the unpaired test finds it"))(
                (same, "how often an arm without a difference is called the same, with a margin of this size; null: "
                       "the plan has no margin"))(
                (not_worse, "how often such an arm is called not worse; null: the plan does not ask that")))

struct PlanChange {
  std::string key = {}, value = {};
};
HEED_RESULT(PlanChange, ((key, "the option's full name"))((value, "its value, as text")))

struct PlanArm {
  std::string label = {};
  std::vector<PlanChange> changes = {};
  std::int64_t parameters = 0;
  double flops_per_step = 0;
  std::int64_t steps = 0;
  double memory_bytes = 0;
  std::optional<std::int64_t> state_size = {};
  std::optional<double> seconds = {};
  std::optional<boost::json::object> matched = {};
};
HEED_RESULT(PlanArm,
            ((label, "its label"))((changes, "the options that it changes"))((parameters, "of its model"))(
                (flops_per_step, "of training"))((steps, "of training"))((memory_bytes, "of one run"))(
                (state_size, "numbers that decoding stores for the longest sequence; null: not for this model"))(
                (seconds, "the estimated time of one run; null if it is not measured"))(
                (matched, "with [sweep] match: the width that was found, and the excess that is left")))

struct PlanRun {
  std::string stage = {};
  std::uint64_t arm = 0;
  std::int64_t seed = 0;
  std::optional<std::string> id = {};
  std::string state = {};
  std::vector<PlanChange> tries = {};
};
HEED_RESULT(PlanRun, ((stage, "tuning, replicate or variation"))((arm, "its arm's place in the list"))(
                         (seed, "its seed"))((id, "its ID; null until tuning has chosen"))(
                         (state, "finished, running, missing, ..."))((tries, "the values that a tuning run tries")))

struct PlanVariation {
  std::vector<std::string> sources = {};
  std::int64_t values = 0;
  std::uint64_t fixings = 0;
};
HEED_RESULT(PlanVariation, ((sources, "of [sweep] vary"))((values, "the values of each"))((fixings, "of the others")))

struct PlanResult {
  std::string name = {}, sweep = {}, metric = {};
  std::optional<bool> higher_is_better = {};
  std::string match = {};
  std::vector<std::int64_t> seeds = {};
  std::vector<PlanArm> arms = {};
  std::vector<std::int64_t> looks = {}, tuning_seeds = {};
  std::optional<PlanVariation> vary = {};
  std::vector<PlanRun> runs = {};
  std::vector<EffectRow> effects = {};
  std::uint64_t to_do = 0;
  double flops = 0;
  std::int64_t jobs = 0, threads = 0, useful_threads = 0;
  double memory_bytes = 0;
  std::optional<double> seconds = {};
};
HEED_RESULT(PlanResult,
            ((name, "the sweep's name"))((sweep, "the name of its folder"))((metric, "what its report compares"))(
                (higher_is_better, "null if the metric has no better side"))((match, "[sweep] match"))(
                (seeds, "the seed of each replicate"))((arms, "the reference first"))((looks, "[sweep] looks"))(
                (tuning_seeds, "of [sweep.tune]"))((vary, "[sweep] vary"))((runs, "all runs, those of tuning first"))(
                (effects, "seeds that an effect needs, and the power to find it"))((to_do, "runs to do"))(
                (flops, "of the runs to do"))((jobs, "runs at the same time"))((threads, "of each run"))(
                (useful_threads, "the most that a run can use"))((memory_bytes, "of all runs at the same time"))(
                (seconds, "the estimated time of the runs to do; null with --no-probe")))

/// tuning, replicate or variation.
std::string stage_of(const EstimatedRun& run, const VariationLabels& variation);

/// @param effect  in standard deviations of the differences: the only one in the list of effects
PlanResult plan_result(const Preparation& prepared, const Estimate& e, std::optional<double> effect);

/// The content of `plan.json` plus the current time. It is stored as a preregistration.
std::string registration(const Plan& plan, const Estimate& e);

} // namespace heed
