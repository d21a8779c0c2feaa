// Collects a report's data from a plan and the folders of its runs.
#include "experiments/report/report_data.hpp"

#include "experiments/index/run_entry.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/metrics/task_scale.hpp"
#include "experiments/report/example_scores.hpp"
#include "experiments/report/variance.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/tuning.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <set>

namespace heed {

namespace {

/// The parts of a manifest that can change result bits. They do not include the number of threads and the machine's
/// name.
std::string describe(const Manifest& manifest) {
  const Build& build = manifest.build;
  std::string text = fmt::format("heed {}, {} {}, {}{} on {}", build.version, build.compiler, build.flags,
                                 build.kernels.empty() ? "" : fmt::format("kernels {}, ", build.kernels), build.blas,
                                 manifest.cpu);
  for (const EarlierSteps& steps : manifest.earlier)
    text += fmt::format("; resumed there after step {}; the steps before were computed with {}", steps.until,
                        steps.made);
  return text;
}

/// Machines and data of the runs, from their manifests.
struct Origins {
  std::map<std::string, std::size_t> machines; ///< number of finished runs for each
  std::string data;                            ///< of the first run that records it
};

/// The last values of val_accuracy_by_length.N, val_loss_at.N and so on; each name is taken from the last record that
/// contains it.
class LastLengths {
public:
  void add(const MetricsRecord& line) {
    std::map<std::string, std::vector<LengthPoint>, std::less<>> of_line;
    for (const auto& [name, value] : line.values)
      if (const auto of = name_of_length(name); of && std::isfinite(value))
        of_line[std::string(of->family)].push_back({of->length, value});
    for (auto& [metric, points] : of_line) {
      std::ranges::sort(points, {}, &LengthPoint::length);
      found[metric] = std::move(points);
    }
  }

  std::map<std::string, std::vector<LengthPoint>, std::less<>> found;
};

/// Values beyond float32's range are no results: the run diverged.
constexpr double greatest_value = std::numeric_limits<float>::max();

/// What the records so far contain of a metric.
struct FoundValue {
  std::optional<double> last;
  std::optional<std::int64_t> reached; ///< the first step at which the goal was reached
};

/// Finds a run's value of a metric.
struct MetricReader {
  Metric metric;
  std::optional<StepsTo> goal;     ///< if it is steps_to(METRIC, VALUE)
  std::optional<Metric> evaluated; ///< then METRIC

  /// The last value; for steps_to, the first step at which the goal was reached, or the metric's largest value if it
  /// never was.
  std::optional<double> of(const FoundValue& found) const {
    if (!goal) return found.last;
    return found.reached ? static_cast<double>(*found.reached) : metric.high;
  }
  /// @param found  accumulates over the previous records
  void add(const MetricsRecord& line, FoundValue& found) const {
    if (!goal) {
      if (const auto value = value_of(line, metric.name)) found.last = value;
    } else if (!found.reached && reaches(line, *goal, evaluated->direction)) {
      found.reached = line.step;
    }
  }
};

/// The configuration of each arm's first run, read only once.
class ArmConfigs {
public:
  explicit ArmConfigs(const Plan& plan) : plan_(plan), configs_(plan.arms.size()) {}

  /// Throws heed::Refused if this program does not understand the configuration.
  const Config& of(std::size_t arm) {
    if (!configs_[arm])
      configs_[arm] = std::make_unique<Config>(config_of(plan_.runs.at(plan_.arms[arm].runs.front())));
    return *configs_[arm];
  }

private:
  const Plan& plan_;
  std::vector<std::unique_ptr<Config>> configs_;
};

/// For steps_to, a run that never reaches the value counts as later than any other: one evaluation after the end of the
/// longest run of all arms.
MetricReader metric_reader(const Plan& plan, ArmConfigs& configs, const std::string& name, const std::string& option) {
  const Config& reference = configs.of(0);
  MetricReader out{metric_of(reference, name, option), steps_to(name), {}};
  if (!out.goal) return out;
  out.evaluated = metric_of(reference, out.goal->metric, option);
  for (std::size_t a = 0; a < plan.arms.size(); ++a) {
    const TrainOptions& train = configs.of(a).train;
    out.metric.high = std::max(out.metric.high, static_cast<double>(train.steps + train.evaluate_every));
  }
  out.metric.description += fmt::format("; a run that never gets there counts as {:g}", out.metric.high);
  return out;
}

/// All metrics of the configuration that no reader reads, except those of single lengths.
std::vector<Metric> other_metrics(const Config& config, const std::vector<MetricReader>& readers) {
  std::vector<Metric> out = metrics_of(config);
  std::erase_if(out, [&](const Metric& metric) {
    return metric.length ||
           std::ranges::any_of(readers, [&](const MetricReader& reader) { return reader.metric.name == metric.name; });
  });
  return out;
}

/// Reads the metric of each validation example of a finished run.
void read_examples(const RunFolder& folder, const std::string& metric, ReportRun& run) {
  const auto scores = read_example_scores(folder);
  if (!scores) {
    run.examples_problem = scores.error;
    return;
  }
  std::vector<double> values = values_of_examples(scores->examples, metric);
  if (values.empty()) {
    run.examples_problem = "its examples have not been evaluated";
    return;
  }
  // Another CPU can give other last digits.
  constexpr double rounding = 1e-4;
  const double mean = statistics::mean(values);
  if (std::abs(mean - *run.value) <= rounding * std::max(std::abs(mean), std::abs(*run.value)))
    run.examples = std::move(values);
  else
    run.examples_problem = fmt::format("its last checkpoint gives {} = {:g}, and its training recorded {:g}", metric,
                                       mean, *run.value);
}

/// @param others    metrics of which only the last values are read
/// @param finished  IDs of runs that had finished at some time
ReportRun collect_run(const PlannedRun& planned, const std::filesystem::path& out,
                      const std::set<std::string>& finished, const std::vector<MetricReader>& readers,
                      const std::vector<Metric>& others, bool with_examples, EntryReader& reader, Origins& origins) {
  const MetricReader& deciding = readers.front();
  const std::string& metric = deciding.metric.name;
  ReportRun run;
  run.id = planned.id;
  run.seed = planned.seed;
  if (run.id.empty()) return run; // the arm is not tuned yet
  const RunFolder folder{out / planned.id};
  run.folder = folder.path;
  std::vector<FoundValue> values(readers.size());
  run.others.resize(others.size());
  LastLengths lengths;
  const bool reads_validation = std::ranges::find(others, "val_loss", &Metric::name) != others.end() &&
                                !(deciding.goal && deciding.goal->metric == "val_loss");
  bool any = false;
  const auto record = reader.read_record(folder, [&](const MetricsRecord& line) {
    any = true;
    run.seconds = line.seconds;
    if (const auto value = value_of(line, deciding.goal ? deciding.goal->metric : metric);
        value && std::isfinite(*value))
      run.curve.push_back({line.step, *value});
    if (const auto loss = written_value(line, "train_loss"); loss && std::isfinite(*loss))
      run.training.push_back({line.step, *loss});
    if (reads_validation)
      if (const auto loss = written_value(line, "val_loss"); loss && std::isfinite(*loss))
        run.validation.push_back({line.step, *loss});
    for (std::size_t i = 0; i < others.size(); ++i)
      if (const auto value = value_of(line, others[i].name)) run.others[i] = value;
    for (std::size_t i = 0; i < readers.size(); ++i) readers[i].add(line, values[i]);
    lengths.add(line);
  });
  if (!record) {
    run.curve.clear();
    run.training.clear();
    run.validation.clear();
    std::ranges::fill(run.others, std::nullopt);
    run.seconds = {};
  }
  // A folder without a run is a missing run, not an untrusted one.
  run.state = record ? record->state : state_of(folder);
  if (run.state == RunState::missing) {
    if (finished.contains(run.id) && !folder.folder().exists()) {
      run.exclusion = RunExclusion::gone;
      run.problem = "it was finished, and its folder is gone; heed run makes it anew";
    }
    return run;
  }
  if (!record) {
    run.exclusion = RunExclusion::unusable;
    run.problem = record.error;
    return run;
  }
  if (const std::optional<Manifest>& manifest = record->manifest) {
    if (run.state == RunState::failed) run.problem = manifest->failure;
    if (run.state == RunState::finished) ++origins.machines[describe(*manifest)];
    if (origins.data.empty()) origins.data = manifest->data;
    if (manifest->start) run.start_changes = manifest->start->changes;
  }
  if (run.state == RunState::finished) {
    run.lengths = std::move(lengths.found);
    for (std::size_t i = 1; i < readers.size(); ++i) {
      run.also.push_back(readers[i].of(values[i]));
      std::string& problem = run.also_problems.emplace_back();
      if (!run.also.back() || std::abs(*run.also.back()) <= greatest_value) continue;
      problem = fmt::format("{} was {:g}: no result", readers[i].metric.name, *run.also.back());
      run.also.back().reset();
    }
    const std::optional<double> last = any ? deciding.of(values.front()) : std::nullopt;
    if (last && std::abs(*last) <= greatest_value) {
      run.value = last;
    } else if (last) { // it diverged, although its state is finished
      run.state = RunState::failed;
      run.problem = fmt::format("{} was {:g}: no result", metric, *last);
    } else run.problem = !any ? "its metrics.jsonl is missing or empty" : fmt::format("it has no {}", metric);
  }
  if (with_examples && run.value) read_examples(folder, metric, run);
  auto attention = read_attention(folder);
  if (attention) run.attention = std::move(*attention);
  else run.attention_problem = attention.error;
  return run;
}

/// The value of the task's own length option: symbols, digits, tokens of a window.
std::optional<std::int64_t> training_length(const Config& config) {
  const FlatConfig flat = flat_config(config);
  for (const char* name : {"length", "digits"}) {
    const auto found = flat.find(fmt::format("task.{}.{}", config.task.kind, name));
    if (found == flat.end()) continue;
    const std::string& text = found->second;
    std::int64_t length = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), length).ec == std::errc()) return length;
  }
  return std::nullopt;
}

/// Gives references their name: the sweep's own, or by the values that arms change where these are few.
void name_references(ReportData& report, const Plan& plan, ArmConfigs& configs) {
  if (report.arms.size() == 1) {
    report.arms.front().label = report.name;
    return;
  }
  report.reference_values = reference_values(plan, configs.of(0));
  const std::string name = reference_name(plan, configs.of(0));
  for (ReportArm& arm : report.arms) {
    if (!report.is_reference(arm)) continue;
    const std::string group = report.group_label(arm);
    arm.label = group.empty() ? name : fmt::format("{}: {}", group, name);
    if (!group.empty()) arm.name = name;
  }
}

std::vector<Metric*> all_metrics(ReportData& report) {
  std::vector<Metric*> out{&report.metric};
  if (report.evaluated) out.push_back(&*report.evaluated);
  for (std::vector<Metric>* metrics : {&report.also, &report.others})
    for (Metric& metric : *metrics) out.push_back(&metric);
  return out;
}

/// Gives arms and metrics the texts of [report.label].
void apply_labels(ReportData& report, const Plan& plan) {
  for (const auto& [name, label] : plan.labels) report.labels[name] = label;
  for (Metric* metric : all_metrics(report))
    if (const auto label = report.labels.find(metric->name); label != report.labels.end())
      metric->label = label->second;
  if (report.arms.size() == 1) return;
  for (ReportArm& arm : report.arms) {
    const bool reference = report.is_reference(arm);
    const auto found = report.labels.find(reference ? "reference" : arm.short_label());
    if (found == report.labels.end()) continue;
    const std::string text = reference ? fmt::format("{} (reference)", found->second) : found->second;
    arm.own_label = arm.label;
    arm.own_name = arm.name;
    const std::string group = report.group_label(arm);
    arm.label = group.empty() ? text : fmt::format("{}: {}", group, text);
    if (!group.empty()) arm.name = text;
  }
}

/// Sorts the groups by value, numerically for numbers; words keep the plan's order.
void sort_groups(ReportData& report) {
  if (report.within.empty()) return;
  std::vector<std::vector<double>> ranks(report.arms.size()); // for each arm, a number for each value of its group
  for (std::size_t option = 0; option < report.within.size(); ++option) {
    std::vector<std::string> seen;
    std::vector<double> numbers;
    bool numeric = true;
    for (const ReportArm& arm : report.arms) {
      const std::string& text = arm.group.at(option);
      char* end = nullptr;
      numbers.push_back(std::strtod(text.c_str(), &end));
      numeric = numeric && !text.empty() && *end == '\0';
      if (std::ranges::find(seen, text) == seen.end()) seen.push_back(text);
    }
    for (std::size_t a = 0; a < ranks.size(); ++a)
      ranks[a].push_back(numeric ? numbers[a]
                                 : static_cast<double>(std::ranges::find(seen, report.arms[a].group[option]) -
                                                       seen.begin()));
  }
  std::vector<std::size_t> order(report.arms.size()), place(report.arms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t arm) { return ranks[arm]; });
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<ReportArm> arms;
  std::vector<ArmTuning> tuned;
  for (const std::size_t from : order) {
    arms.push_back(std::move(report.arms[from]));
    arms.back().reference = place[arms.back().reference];
    if (report.tuning) tuned.push_back(std::move(report.tuning->arms[from]));
  }
  report.arms = std::move(arms);
  if (report.tuning) report.tuning->arms = std::move(tuned);
}

} // namespace

ReportData collect_report(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                          const FactsOf& facts_of) {
  ReportData report;
  report.name = plan.name;
  report.hash = plan.hash;
  report.sweep = plan.sweep;
  if (plan.asks_not_worse()) report.asked = statistics::Question::not_worse;
  report.out = out;
  report.folder = folder;
  report.seeds = plan.seeds;
  report.looks = plan.looks;
  report.within = plan.within;
  report.match = plan.match;
  report.examples = plan.examples;
  if (plan.tuning) {
    Plan looked_at = plan;
    look_at_trials(looked_at, out);
    report.tuning = std::move(looked_at.tuning);
  }

  const PlannedRun& reference = plan.runs.at(plan.arms.front().runs.front());
  ArmConfigs configs(plan);
  std::vector<MetricReader> readers{metric_reader(plan, configs, plan.metric, "report.metric")};
  for (const std::string& metric : plan.also) readers.push_back(metric_reader(plan, configs, metric, "report.also"));
  if (plan.arms.size() == 1) report.others = other_metrics(configs.of(0), readers);
  Origins origins;
  EntryReader reader;
  const std::set<std::string> finished = recorded_as_finished(folder);
  for (const Arm& planned : plan.arms) {
    ReportArm arm;
    arm.label = planned.label;
    arm.reference = planned.reference;
    arm.group = planned.group;
    arm.name = planned.name;
    arm.changes = planned.changes;
    arm.matched = planned.matched;
    for (const std::size_t index : planned.runs)
      arm.runs.push_back(collect_run(plan.runs.at(index), out, finished, readers, report.others, plan.examples, reader,
                                     origins));
    const PlannedRun& first = plan.runs.at(planned.runs.front());
    arm.config = first.config;
    arm.cost = planned_cost(plan, first.arm);
    try {
      const std::size_t index = report.arms.size();
      const Config& config = configs.of(index);
      arm.training_length = training_length(config);
      arm.start = config.train.start;
      arm.differences = difference(configs.of(planned.reference == index ? 0 : planned.reference), config);
      ArmFacts facts = facts_of(config);
      arm.chance = std::move(facts.chance);
      arm.leakage = std::move(facts.leakage);
      arm.evaluated_examples = facts.examples;
      arm.chance_at_lengths = std::move(facts.at_lengths);
    } catch (const Refused&) {
      // The data may have been moved since; the report is complete without these facts.
    }
    report.arms.push_back(std::move(arm));
  }
  if (const auto& planned = plan.variation) {
    ReportVariation& variation = report.variation.emplace();
    variation.sources = planned->sources;
    variation.values = planned->values;
    variation.fixings = planned->fixings.size();
    variation.labels = planned->labels;
    for (const PlannedRun& run : planned->runs)
      variation.runs.push_back(collect_run(run, out, finished, readers, report.others, false, reader, origins));
  }
  for (const auto& [description, runs] : origins.machines) report.machines.push_back({description, runs});

  report.metric = readers.front().metric;
  report.evaluated = readers.front().evaluated;
  for (std::size_t i = 1; i < readers.size(); ++i) report.also.push_back(readers[i].metric);
  report.margin = plan.margin;
  report.test = plan.test == "unpaired" ? statistics::Test::unpaired : statistics::Test::paired;
  if (plan.answers_over_tasks())
    report.over = OverTasks{.tasks = plan.over == "these tasks" ? statistics::TaskScope::these
                                                                : statistics::TaskScope::like_these,
                            .scale = plan.scale,
                            .units = units_of_scale(plan.scale, "report.scale")};
  report.learned = plan.learned;
  report.resolution = configs.of(0).float64() ? 0x1p-50 : 0x1p-23;
  report.question = plan.question;
  report.frozen = plan.frozen;
  report.earlier = earlier_sweeps(plan, out);
  report.reference_config = reference.config;
  report.data = origins.data;
  if (plan.variation) compute_variance(report, *plan.variation);
  name_references(report, plan, configs);
  apply_labels(report, plan);
  sort_groups(report);
  compute_statistics(report);
  return report;
}

} // namespace heed
