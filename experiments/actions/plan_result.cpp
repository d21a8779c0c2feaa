#include "experiments/actions/plan_result.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/report/indented_json.hpp"
#include "experiments/report/seed_advice.hpp"
#include "experiments/system/text.hpp"

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heed {

namespace {

namespace json = boost::json;

std::vector<PlanChange> changes_of(const std::vector<PlannedChange>& changes) {
  std::vector<PlanChange> out;
  for (const PlannedChange& change : changes) out.push_back({change.key, change.value});
  return out;
}

PlanArm arm_result(const Preparation& prepared, const Estimate& e, std::size_t arm) {
  const Arm& planned = prepared.plan.arms[arm];
  const Cost& cost = prepared.arms[arm].cost;
  PlanArm out{.label = planned.label,
              .changes = changes_of(planned.changes),
              .parameters = cost.parameters,
              .flops_per_step = cost.flops_per_step,
              .steps = prepared.arms[arm].config.train.steps,
              .memory_bytes = cost.bytes(e.share.threads),
              .state_size = cost.state_size};
  if (!e.arm_seconds.empty()) out.seconds = e.arm_seconds[arm];
  if (planned.matched) out.matched = {{"width", planned.matched->width}, {"excess", planned.matched->excess()}};
  return out;
}

} // namespace

std::string stage_of(const EstimatedRun& run, const VariationLabels& variation) {
  return run.trial ? "tuning" : variation.before(*run.run).empty() ? "replicate" : "variation";
}

PlanResult plan_result(const Preparation& prepared, const Estimate& e, std::optional<double> effect) {
  const Plan& plan = prepared.plan;
  PlanResult out{.name = plan.name, .sweep = plan.folder_name(), .metric = plan.metric};
  if (prepared.metric.is_goal()) out.higher_is_better = prepared.metric.higher_is_better();
  out.match = plan.match;
  out.seeds = plan.seeds;
  for (std::size_t i = 0; i < plan.arms.size(); ++i) out.arms.push_back(arm_result(prepared, e, i));
  out.looks.assign(plan.looks.begin(), plan.looks.end());
  if (plan.tuning) out.tuning_seeds = plan.tuning->seeds;
  if (const auto& of = plan.variation)
    out.vary = PlanVariation{of->sources, static_cast<std::int64_t>(of->values), of->fixings.size()};
  const VariationLabels variation(plan);
  for (const EstimatedRun& run : e.runs) {
    PlanRun& of = out.runs.emplace_back(PlanRun{.stage = stage_of(run, variation),
                                                .arm = run.run->arm,
                                                .seed = run.run->seed,
                                                .state = std::string(name_of(run.state))});
    if (!run.run->id.empty()) of.id = run.run->id;
    if (run.trial) of.tries = changes_of(run.trial->point);
  }
  out.effects = effect_rows(plan, effect);
  out.to_do = e.to_do();
  out.flops = e.flops;
  out.jobs = e.share.jobs;
  out.threads = e.share.threads;
  out.useful_threads = useful_threads(prepared);
  out.memory_bytes = e.bytes;
  out.seconds = e.seconds;
  return out;
}

std::string registration(const Plan& plan, const Estimate& e) {
  json::value out = json_fields::parsed(to_json(plan));
  out.as_object().erase("checksum"); // the checksum is valid only in the plan's own file
  out.as_object()["registered"] = json::object{{"at", utc_now()},
                                               {"plan", plan.hash},
                                               {"sweep", plan.folder_name()},
                                               {"finished", e.finished},
                                               {"runs", e.runs.size()}};
  return indented(out);
}

} // namespace heed
