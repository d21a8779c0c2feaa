#include "experiments/report/report_data.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/seeds_that_fail.hpp"
#include "experiments/runs/run_entry.hpp"
#include "experiments/statistics/spending.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/sweep/finished_runs.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/steps_to.hpp"
#include "experiments/sweep/tuning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

namespace heed {

namespace {

/// What a run was made with, as far as bits depend on it: not how many threads, nor the machine's name.
std::string describe(const Manifest& manifest) {
  const Build& build = manifest.build;
  std::string text = fmt::format("heed {}, {} {}, {}{} on {}", build.version, build.compiler, build.flags,
                                 build.kernels.empty() ? "" : fmt::format("kernels {}, ", build.kernels), build.blas,
                                 manifest.cpu);
  for (const EarlierSteps& steps : manifest.earlier)
    text += fmt::format("; went on there after step {}, with the steps before made with {}", steps.until, steps.made);
  return text;
}

/// What runs say of where they come from.
struct Origins {
  std::map<std::string, std::size_t> machines; ///< finished runs of each
  std::string data;                            ///< the first run's that says so
};

/// val_accuracy_by_length.N, val_loss_at.N and so on, of the last line that has each.
class LastLengths {
public:
  void add(const Metrics& line) {
    std::map<std::string, std::vector<LengthPoint>, std::less<>> of_line;
    for (const auto& [name, value] : line.values) {
      const std::size_t dot = name.find('.');
      const std::string_view metric = std::string_view(name).substr(0, dot);
      const bool by_length = metric == by_length_metric || (metric.starts_with("val_") && metric.ends_with("_at"));
      if (dot == name.npos || !by_length || !std::isfinite(value)) continue;
      LengthPoint point{0, value};
      const char* end = name.data() + name.size();
      if (std::from_chars(name.data() + dot + 1, end, point.length).ptr == end)
        of_line[std::string(metric)].push_back(point);
    }
    for (auto& [metric, points] : of_line) {
      std::ranges::sort(points, {}, &LengthPoint::length);
      found[metric] = std::move(points);
    }
  }

  std::map<std::string, std::vector<LengthPoint>, std::less<>> found;
};

/// What float32 can't hold is no result: the run diverged.
constexpr double greatest_value = std::numeric_limits<float>::max();

/// What lines say of a metric so far.
struct FoundValue {
  std::optional<double> last;
  std::optional<std::int64_t> reached; ///< the first step
};

/// How a run's value by a metric is found.
struct Reading {
  MetricInfo metric;
  std::optional<StepsTo> goal;         ///< where it is steps_to(METRIC, VALUE)
  std::optional<MetricInfo> evaluated; ///< then METRIC

  /// The last value; or the first step at which the goal is reached, the metric's greatest where it never is.
  std::optional<double> of(const FoundValue& found) const {
    if (!goal) return found.last;
    return found.reached ? static_cast<double>(*found.reached) : metric.greatest;
  }
  /// @param found  of the lines before
  void add(const Metrics& line, FoundValue& found) const {
    if (!goal) {
      if (const auto value = value_of(line, metric.name)) found.last = value;
    } else if (!found.reached && reaches(line, *goal, evaluated->higher_is_better)) {
      found.reached = line.step;
    }
  }
};

/// A run that never gets there counts as later than any: as one evaluation beyond the longest of all arms' runs.
Reading reading_of(const Plan& plan, const Config& reference, const std::string& name, const std::string& option) {
  Reading out{metric_of(reference, name, option), steps_to(name), {}};
  if (!out.goal) return out;
  out.evaluated = metric_of(reference, out.goal->metric, option);
  for (const Arm& arm : plan.arms) {
    const Config config = config_of(plan.runs.at(arm.runs.front()));
    out.metric.greatest = std::max(*out.metric.greatest,
                                   static_cast<double>(config.train.steps + config.train.evaluate_every));
  }
  out.metric.meaning += fmt::format("; a run that never gets there counts as {:g}", *out.metric.greatest);
  return out;
}

/// @param finished  runs that were finished at some time
ReportRun collect_run(const PlannedRun& planned, const std::filesystem::path& out,
                      const std::set<std::string>& finished, const std::vector<Reading>& readings, EntryReader& reader,
                      Origins& origins) {
  const Reading& deciding = readings.front();
  const std::string& metric = deciding.metric.name;
  ReportRun run;
  run.id = planned.id;
  run.seed = planned.seed;
  if (run.id.empty()) return run; // the arm has still to be tuned
  const RunFolder folder{out / planned.id};
  run.folder = folder.path;
  std::vector<FoundValue> values(readings.size());
  LastLengths lengths;
  bool any = false;
  const auto record = reader.read_record(folder, [&](const Metrics& line) {
    any = true;
    run.seconds = line.seconds;
    if (const auto value = value_of(line, deciding.goal ? deciding.goal->metric : metric);
        value && std::isfinite(*value))
      run.curve.push_back({line.step, *value});
    for (std::size_t i = 0; i < readings.size(); ++i) readings[i].add(line, values[i]);
    lengths.add(line);
  });
  if (!record) {
    run.curve.clear();
    run.seconds = {};
  }
  // Of what can't be relied on, a folder without a run is none yet.
  run.state = record ? record->state : state_of(folder);
  if (run.state == RunState::missing) {
    run.gone = finished.contains(run.id);
    if (run.gone) run.problem = "it was finished, and its folder is gone; heed run makes it anew";
    return run;
  }
  if (!record) {
    run.left_out = true;
    run.problem = record.error;
    return run;
  }
  if (const std::optional<Manifest>& manifest = record->manifest) {
    if (run.state == RunState::failed) run.problem = manifest->failure;
    if (run.state == RunState::finished) ++origins.machines[describe(*manifest)];
    if (origins.data.empty()) origins.data = manifest->data;
  }
  if (run.state == RunState::finished) {
    run.lengths = std::move(lengths.found);
    for (std::size_t i = 1; i < readings.size(); ++i) {
      run.also.push_back(readings[i].of(values[i]));
      if (run.also.back() && !(std::abs(*run.also.back()) <= greatest_value)) run.also.back().reset();
    }
    const std::optional<double> last = any ? deciding.of(values.front()) : std::nullopt;
    if (last && std::abs(*last) <= greatest_value) {
      run.value = last;
    } else if (last) { // it diverged, whatever its end was called
      run.state = RunState::failed;
      run.problem = fmt::format("{} came to {:g}: no result", metric, *last);
    } else run.problem = !any ? "its metrics.jsonl is missing or empty" : fmt::format("it has no {}", metric);
  }
  auto attention = read_attention(folder);
  if (attention) run.attention = std::move(*attention);
  else run.attention_problem = attention.error;
  return run;
}

template <class Which> std::size_t count_runs(const ReportData& report, Which which) {
  std::ptrdiff_t n = 0;
  for (const ReportArm& arm : report.arms) n += std::ranges::count_if(arm.runs, which);
  return static_cast<std::size_t>(n);
}

/// Whether no arm's run of the seed, by its place, is still to come.
bool seed_is_done(const ReportData& report, std::size_t seed) {
  return std::ranges::all_of(report.arms, [&](const ReportArm& arm) {
    if (seed >= arm.runs.size()) return false;
    const ReportRun& run = arm.runs[seed];
    return run.lost() || run.state == RunState::finished;
  });
}

} // namespace

std::size_t ReportData::total() const {
  std::size_t n = 0;
  for (const ReportArm& arm : arms) n += arm.runs.size();
  return n;
}

std::size_t ReportData::count(RunState state) const {
  return count_runs(*this, [&](const ReportRun& run) { return !run.left_out && !run.gone && run.state == state; });
}

std::size_t ReportData::seeds_done() const {
  std::size_t done = 0;
  for (std::size_t s = 0; s < seeds.size(); ++s) done += seed_is_done(*this, s);
  return done;
}

std::size_t ReportData::seeds_looked_at() const {
  if (looks.empty()) return seeds.size();
  std::size_t whole = 0;
  while (whole < seeds.size() && seed_is_done(*this, whole)) ++whole;
  std::size_t last = 0;
  for (const std::size_t look : looks)
    if (look <= whole) last = look;
  return last;
}

std::span<const ReportRun> ReportData::counted_runs(const ReportArm& arm) const {
  const std::size_t seeds = looks.empty() ? 0 : seeds_looked_at();
  return std::span(arm.runs).first(seeds == 0 ? arm.runs.size() : std::min(seeds, arm.runs.size()));
}

std::string ReportData::group_label(const ReportArm& arm) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < arm.group.size(); ++i)
    parts.push_back(fmt::format("{} = {}", within[i].name, arm.group[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool sees_alike(const ReportData& report, const ReportArm& arm) {
  return arm.sight.empty() == report.arms.at(arm.reference).sight.empty();
}

std::size_t ReportData::left_out() const { return count_runs(*this, &ReportRun::left_out); }
std::size_t ReportData::gone() const { return count_runs(*this, &ReportRun::gone); }

namespace {

/// Seeds and values of the runs that have one.
template <class ValueOf> statistics::SeedValues results_of(std::span<const ReportRun> runs, const ValueOf& value_of) {
  statistics::SeedValues out;
  for (const ReportRun& run : runs) {
    if (run.left_out) continue;
    const std::optional<double> value = value_of(run);
    if (!value) continue;
    out.seeds.push_back(run.seed);
    out.values.push_back(*value);
  }
  return out;
}

/// A run's value by the deciding metric, or by a further one.
std::optional<double> deciding_value(const ReportRun& run) { return run.value; }
auto further_value(std::size_t which) {
  return [which](const ReportRun& run) { return which < run.also.size() ? run.also[which] : std::nullopt; };
}

std::optional<double> mean_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(statistics::mean(values));
}

/// The standard deviation; zero where it is rounding.
std::optional<double> spread_of(const std::vector<double>& values, double resolution) {
  const auto spread = statistics::standard_deviation(values);
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  return spread && *spread <= resolution * largest ? 0 : spread;
}

statistics::Question question_of(const ReportData& report, const MetricInfo& metric, double level) {
  std::optional<double> range = metric.greatest;
  if (range) *range -= metric.least;
  return {.test = report.test,
          .higher_is_better = metric.higher_is_better,
          .range = range,
          .resolution = report.resolution,
          .level = level};
}

bool is_found(statistics::Answer answer) {
  return answer == statistics::Answer::differs || answer == statistics::Answer::same;
}

/// What an undecided arm's seeds would have found, where the differences' spread is as they have it.
class SmallestFound {
public:
  explicit SmallestFound(const MetricInfo& metric) {
    if (metric.greatest) range_ = *metric.greatest - metric.least;
  }

  std::optional<double> operator()(const ReportArm& arm, const ReportArm& reference) {
    if (!arm.comparison || arm.comparison->answer != statistics::Answer::undecided) return std::nullopt;
    const statistics::Comparison& c = *arm.comparison;
    const std::size_t n = c.seeds.size(), m = c.reference_runs;
    const std::optional<double> spread = m == 0 ? c.difference.standard_deviation
                                                : pooled(arm.standard_deviation, n, reference.standard_deviation, m);
    if (!spread || !(*spread > 0) || !std::isfinite(*spread)) return std::nullopt;
    const auto [known, is_new] = effects_.try_emplace({n, m, c.family});
    if (is_new)
      known->second = m == 0 ? statistics::smallest_effect(n, found_share, c.level, c.family)
                             : statistics::smallest_effect_unpaired(n, m, found_share, statistics::significance_level,
                                                                    c.family);
    if (!known->second || *known->second * *spread > range_) return std::nullopt; // no values lie so far apart
    return *known->second * *spread;
  }

private:
  static std::optional<double> pooled(std::optional<double> a, std::size_t n, std::optional<double> b, std::size_t m) {
    const double from_a = static_cast<double>(n - 1), from_b = static_cast<double>(m - 1);
    const double va = a.value_or(0), vb = b.value_or(0);
    if (!(from_a + from_b > 0)) return std::nullopt;
    return std::sqrt((from_a * va * va + from_b * vb * vb) / (from_a + from_b));
  }

  double range_ = std::numeric_limits<double>::infinity();
  /// By the runs of the arm and of the reference, and the arms that p is corrected over.
  std::map<std::array<std::size_t, 3>, std::optional<double>> effects_;
};

/// n, mean, spread and time of each arm, by all metrics.
void describe(ReportData& report) {
  for (ReportArm& arm : report.arms) {
    const std::span<const ReportRun> counted = report.counted_runs(arm);
    const std::vector<double> values = results_of(counted, deciding_value).values;
    std::vector<double> seconds;
    for (const ReportRun& run : arm.runs)
      if (!run.left_out && run.state == RunState::finished) seconds.push_back(run.seconds);
    arm.values = values.size();
    arm.mean = mean_of(values);
    arm.standard_deviation = spread_of(values, report.resolution);
    arm.interquartile_mean = values.empty() ? std::nullopt : std::optional(statistics::interquartile_mean(values));
    arm.seconds = mean_of(seconds).value_or(0);
    arm.comparison.reset();
    arm.look = 0;
    arm.also.clear();
    for (std::size_t m = 0; m < report.also.size(); ++m) {
      const std::vector<double> further = results_of(counted, further_value(m)).values;
      arm.also.push_back({further.size(), mean_of(further), spread_of(further, report.resolution)});
    }
  }
}

/// Compares the arms over their first `seeds` runs, by all metrics together, but those that an earlier look has found an
/// answer for.
void compare_arms(ReportData& report, std::size_t seeds, double level) {
  std::vector<statistics::SeedValues> results;
  std::vector<std::size_t> reference_of;
  std::vector<statistics::Question> questions;
  const auto first = [&](const ReportArm& arm) {
    return std::span<const ReportRun>(arm.runs).first(std::min(seeds, arm.runs.size()));
  };
  const auto values_of = [&](const ReportArm& arm, const auto& value_of) {
    return sees_alike(report, arm) ? results_of(first(arm), value_of) : statistics::SeedValues{};
  };
  for (const ReportArm& arm : report.arms) {
    results.push_back(values_of(arm, deciding_value));
    reference_of.push_back(arm.reference);
    questions.push_back(question_of(report, report.metric, level));
    questions.back().margin = report.margin;
  }
  // Metric after metric, each with all arms.
  for (std::size_t m = 0; m < report.also.size(); ++m)
    for (const ReportArm& arm : report.arms) {
      results.push_back(values_of(arm, further_value(m)));
      reference_of.push_back((m + 1) * report.arms.size() + arm.reference);
      questions.push_back(question_of(report, report.also[m], level));
    }
  const auto compared = statistics::compare_each(results, reference_of, questions);
  const auto answer = [&](std::optional<statistics::Comparison>& of, std::size_t& look, const MetricInfo& metric,
                          std::size_t which) {
    if (of && is_found(of->answer)) return;
    of = compared[which];
    if (of && !metric.is_goal) of->improvement.reset(); // no side is better
    look = report.looks.empty() || !of ? 0 : seeds;
  };
  for (std::size_t i = 0; i < report.arms.size(); ++i) {
    ReportArm& arm = report.arms[i];
    answer(arm.comparison, arm.look, report.metric, i);
    for (std::size_t m = 0; m < report.also.size(); ++m)
      answer(arm.also[m].comparison, arm.also[m].look, report.also[m], (m + 1) * report.arms.size() + i);
  }
}

} // namespace

void compute_statistics(ReportData& report) {
  describe(report);
  if (report.looks.empty())
    compare_arms(report, std::numeric_limits<std::size_t>::max(), statistics::significance_level);
  const std::vector<double> levels = statistics::look_levels(report.looks);
  const std::size_t last = report.seeds_looked_at();
  for (std::size_t k = 0; k < report.looks.size() && report.looks[k] <= last; ++k)
    compare_arms(report, report.looks[k], levels[k]);
  // Of several looks, interactions are told at the last.
  report.interactions = last == report.seeds.size() ? interactions_of(report) : std::vector<Interaction>{};
  SmallestFound smallest_found(report.metric);
  for (ReportArm& arm : report.arms) arm.smallest_found = smallest_found(arm, report.arms[arm.reference]);
  count_learned(report);
  rank_failed_runs(report);
}

ReportData by_further_metric(const ReportData& report, std::size_t which) {
  ReportData out = report;
  out.metric = report.also.at(which);
  out.margin.reset();
  out.learned.reset();
  out.interactions.clear();
  for (ReportArm& arm : out.arms) {
    const FurtherResult& result = arm.also.at(which);
    arm.values = result.values;
    arm.mean = result.mean;
    arm.standard_deviation = result.standard_deviation;
    arm.comparison = result.comparison;
    arm.look = result.look;
    arm.learned.reset();
    arm.p_failed_worst.reset();
    for (ReportRun& run : arm.runs) run.value = which < run.also.size() ? run.also[which] : std::nullopt;
  }
  SmallestFound smallest_found(out.metric);
  for (ReportArm& arm : out.arms) arm.smallest_found = smallest_found(arm, out.arms[arm.reference]);
  return out;
}

namespace {

/// The order of the groups: by value, numbers as numbers; words stay in the plan's order.
void sort_groups(ReportData& report) {
  if (report.within.empty()) return;
  std::vector<std::vector<double>> ranks(report.arms.size()); // of each arm, a number for each value of its group
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
  // A page or a table shows nothing of a command to a terminal, and is turned by none.
  report.name = without_controls(plan.name);
  report.hash = plan.hash;
  report.sweep = plan.sweep;
  report.out = out;
  report.folder = folder;
  report.seeds = plan.seeds;
  report.looks = plan.looks;
  report.within = plan.within;
  report.match = plan.match;
  if (plan.tuning) {
    Plan looked_at = plan;
    look_at_trials(looked_at, out);
    report.tuning = std::move(looked_at.tuning);
  }

  const PlannedRun& reference = plan.runs.at(plan.arms.front().runs.front());
  const Config reference_config = config_of(reference);
  std::vector<Reading> readings{reading_of(plan, reference_config, plan.metric, "report.metric")};
  for (const std::string& metric : plan.also)
    readings.push_back(reading_of(plan, reference_config, metric, "report.also"));
  Origins origins;
  EntryReader reader;
  const std::set<std::string> finished = recorded_as_finished(folder);
  for (const Arm& planned : plan.arms) {
    ReportArm arm;
    arm.label = without_controls(planned.label);
    arm.reference = planned.reference;
    arm.group = planned.group;
    arm.name = without_controls(planned.name);
    arm.changes = planned.changes;
    arm.matched = planned.matched;
    for (const std::size_t index : planned.runs)
      arm.runs.push_back(collect_run(plan.runs.at(index), out, finished, readings, reader, origins));
    const PlannedRun& first = plan.runs.at(planned.runs.front());
    arm.config = first.config;
    arm.cost = cost_of(plan, first.arm);
    try {
      const Config config = config_of(first);
      const bool first_of_group = planned.reference == report.arms.size();
      const Arm& against = plan.arms[first_of_group ? 0 : planned.reference];
      arm.differences = difference(config_of(plan.runs.at(against.runs.front())), config);
      ArmFacts facts = facts_of(config);
      arm.chance = std::move(facts.chance);
      arm.sight = std::move(facts.sight);
    } catch (const Refused&) {
      // The data may have moved since; the results stand without these.
    }
    report.arms.push_back(std::move(arm));
  }
  for (const auto& [description, runs] : origins.machines) report.machines.push_back({description, runs});

  report.metric = readings.front().metric;
  report.evaluated = readings.front().evaluated;
  for (std::size_t i = 1; i < readings.size(); ++i) report.also.push_back(readings[i].metric);
  report.margin = plan.margin;
  report.test = plan.test == "unpaired" ? statistics::Test::unpaired : statistics::Test::paired;
  report.learned = plan.learned;
  report.resolution = reference_config.float64() ? 0x1p-50 : 0x1p-23;
  report.question = without_controls(plan.question);
  report.frozen = plan.frozen;
  report.earlier = earlier_sweeps(plan, out);
  report.reference_config = reference.config;
  report.data = origins.data;
  sort_groups(report);
  compute_statistics(report);
  return report;
}

} // namespace heed
