#include "experiments/report/report_data.hpp"

#include "experiments/statistics/summary.hpp"
#include "experiments/sweep/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <span>

namespace heed {

namespace {

std::string describe(const Manifest& manifest) {
  const Build& build = manifest.build;
  return fmt::format("heed {} (numerics {}), {} {}, {}, {} thread{} on {} ({})", build.version, manifest.numerics,
                     build.compiler, build.flags, build.blas, manifest.threads, manifest.threads == 1 ? "" : "s",
                     manifest.cpu, manifest.host);
}

ReportRun collect_run(const PlannedRun& planned, const std::filesystem::path& out, const std::string& metric,
                      std::map<std::string, std::size_t>& machines) {
  ReportRun run;
  run.id = planned.id;
  run.seed = planned.seed;
  if (run.id.empty()) return run;  // the arm has still to be tuned
  const RunFolder folder{out / planned.id};
  run.folder = folder.path;
  run.state = state_of(folder);
  if (run.state == RunState::missing) return run;

  if (auto manifest = read_manifest(folder)) {
    if (run.state == RunState::failed) run.problem = manifest->failure;
    if (run.state == RunState::finished) ++machines[describe(*manifest)];
  } else if (run.state != RunState::running) {
    run.problem = manifest.error;
  }
  if (!std::filesystem::exists(folder.metrics())) {
    if (run.state == RunState::finished) run.problem = "its metrics.jsonl is missing";
    return run;
  }
  auto lines = read_metrics(folder);
  if (!lines) {
    run.problem = lines.error;
    return run;
  }
  for (const Metrics& line : *lines)
    for (const auto& [name, value] : line.values)
      if (name == metric && std::isfinite(value)) run.curve.push_back({line.step, value});
  if (!lines->empty()) run.seconds = lines->back().seconds;
  if (run.state == RunState::finished) {
    const std::optional<double> last = last_value(*lines, metric);
    if (last && std::isfinite(*last)) run.value = last;
    else run.problem = fmt::format("it has no {}", metric);
  }
  auto attention = read_attention(folder);
  if (attention) run.attention = std::move(*attention);
  else run.attention_problem = attention.error;
  return run;
}

} // namespace

std::size_t ReportData::total() const {
  std::size_t n = 0;
  for (const ReportArm& arm : arms) n += arm.runs.size();
  return n;
}

std::size_t ReportData::count(RunState state) const {
  std::size_t n = 0;
  for (const ReportArm& arm : arms)
    n += static_cast<std::size_t>(
        std::count_if(arm.runs.begin(), arm.runs.end(), [&](const ReportRun& r) { return r.state == state; }));
  return n;
}

MetricInfo metric_of(const Config& config, const std::string& name) {
  const std::vector<MetricInfo> known = metrics_of(config);
  std::vector<std::string> names;
  for (const MetricInfo& metric : known) {
    if (metric.name == name) return metric;
    names.push_back(metric.name);
  }
  const std::string near = nearest(name, names);
  throw Refused(fmt::format("report.metric: \"{}\" is not measured here; allowed: {}{}", name, fmt::join(names, ", "),
                            near.empty() ? "" : fmt::format(" (nearest: {})", near)));
}

void compute_statistics(ReportData& report) {
  std::vector<statistics::SeedValues> results;
  for (ReportArm& arm : report.arms) {
    statistics::SeedValues result;
    std::vector<double> seconds;
    for (const ReportRun& run : arm.runs) {
      if (run.state == RunState::finished) seconds.push_back(run.seconds);
      if (!run.value) continue;
      result.seeds.push_back(run.seed);
      result.values.push_back(*run.value);
    }
    const std::vector<double>& values = result.values;
    arm.values = values.size();
    arm.mean = values.empty() ? std::nullopt : std::optional(statistics::mean(values));
    arm.standard_deviation = statistics::standard_deviation(values);
    arm.interquartile_mean = values.empty() ? std::nullopt : std::optional(statistics::interquartile_mean(values));
    arm.seconds = seconds.empty() ? 0 : statistics::mean(seconds);
    arm.comparison.reset();
    results.push_back(std::move(result));
  }
  const auto compared = statistics::compare(std::span(results).subspan(1), results.front(),
                                            report.metric.higher_is_better, report.margin);
  for (std::size_t i = 0; i < compared.size(); ++i) report.arms[i + 1].comparison = compared[i];
}

ReportData collect_report(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                          const FactsOf& facts_of) {
  ReportData report;
  report.name = plan.name;
  report.hash = plan.hash;
  report.sweep = plan.sweep;
  report.out = out;
  report.folder = folder;
  report.seeds = plan.seeds;
  report.match = plan.match;
  if (plan.tuning) {
    Plan looked_at = plan;
    look_at_trials(looked_at, out);
    report.tuning = std::move(looked_at.tuning);
  }

  const PlannedRun& reference = plan.runs.at(plan.arms.front().runs.front());
  const Config reference_config = config_of(reference);
  std::map<std::string, std::size_t> machines;
  for (const Arm& planned : plan.arms) {
    ReportArm arm;
    arm.label = planned.label;
    arm.changes = planned.changes;
    arm.matched = planned.matched;
    for (const std::size_t index : planned.runs)
      arm.runs.push_back(collect_run(plan.runs.at(index), out, plan.metric, machines));
    const PlannedRun& first = plan.runs.at(planned.runs.front());
    arm.config = first.config;
    try {
      const Config config = config_of(first);
      arm.differences = difference(reference_config, config);
      arm.facts = facts_of(config);
    } catch (const Refused&) {
      // The data may have moved since; the results stand without these.
    }
    report.arms.push_back(std::move(arm));
  }
  for (const auto& [description, runs] : machines) report.machines.push_back({description, runs});

  report.metric = metric_of(reference_config, plan.metric);
  report.margin = plan.margin;
  report.question = plan.question;
  report.reference_config = reference.config;
  for (const PlannedRun& run : plan.runs)
    if (auto manifest = read_manifest(RunFolder{out / run.id}); !run.id.empty() && manifest && !manifest->data.empty()) {
      report.data = manifest->data;
      break;
    }
  compute_statistics(report);
  return report;
}

} // namespace heed
