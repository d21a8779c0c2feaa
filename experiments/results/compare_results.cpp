#include "experiments/results/compare_results.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/results/metric_names.hpp"
#include "experiments/results/result_columns.hpp"
#include "experiments/results/result_runs.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <set>

namespace heed {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Values beyond float32's range are no results, as in a sweep.
constexpr double greatest_result = std::numeric_limits<float>::max();
/// The sampled flips of more seeds would take minutes.
constexpr std::size_t most_seeds = 10'000;
constexpr std::size_t most_arms = 1000;

std::string arms_in_words(const std::vector<std::string>& arms) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, arms.size()); ++i) names.push_back(shown_text(arms[i]));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     arms.size() > most ? fmt::format(", and {} more", arms.size() - most) : "");
}

std::string metric_list(const ResultRuns& runs) {
  std::vector<std::string> names;
  for (const std::string& metric : runs.metrics) names.push_back(shown_text(metric));
  return fmt::format("{}", fmt::join(names, ", "));
}

// ---- metrics --------------------------------------------------------------------------------------------------------

/// The value of a repeatable option for a metric: of "METRIC=VALUE", or of "VALUE", which holds for all metrics.
class ByMetric {
public:
  /// Throws heed::Refused for a name that is none of the metrics, and for two values of one metric.
  ByMetric(const std::vector<std::string>& given, const ResultQuestion& question, const ResultRuns& runs,
           const char* word)
      : option_(question.option(word)) {
    for (const std::string& text : given) {
      const std::size_t equals = text.rfind('=');
      const std::string metric = equals == std::string::npos ? "" : text.substr(0, equals);
      if (equals != std::string::npos && !known(metric, question, runs))
        throw Refused(fmt::format("{} {}: {} is none of the metrics; they are {}", option_, text, shown_text(metric),
                                  metric_list(runs)));
      std::string name;
      for (std::size_t m = 0; m < runs.metrics.size(); ++m)
        if (equals != std::string::npos && (metric == runs.metrics[m] || metric == question.metrics[m]))
          name = runs.metrics[m];
      if (!values_.emplace(name, equals == std::string::npos ? text : text.substr(equals + 1)).second)
        throw Refused(fmt::format("{} is given twice{}; leave one out", option_,
                                  name.empty() ? "" : fmt::format(" for {}", name)));
    }
  }

  std::optional<std::string> of(const std::string& metric) const {
    for (const std::string& name : {metric, std::string()})
      if (const auto found = values_.find(name); found != values_.end()) return found->second;
    return std::nullopt;
  }
  const std::string& option() const { return option_; }

private:
  static bool known(const std::string& metric, const ResultQuestion& question, const ResultRuns& runs) {
    return std::ranges::find(runs.metrics, metric) != runs.metrics.end() ||
           std::ranges::find(question.metrics, metric) != question.metrics.end();
  }

  std::string option_;
  std::map<std::string, std::string> values_;
};

Direction direction_of(const ByMetric& given, const std::string& metric) {
  if (const auto word = given.of(metric)) {
    if (*word == "higher") return Direction::higher;
    if (*word == "lower") return Direction::lower;
    if (*word == "none") return Direction::none;
    throw Refused(fmt::format("{} {}: it must be 'higher', 'lower' or 'none'{}", given.option(), shown_text(*word),
                              did_you_mean(*word, {"higher", "lower", "none"})));
  }
  if (const auto known = direction_by_name(metric)) return *known;
  throw Refused(fmt::format("the name {} does not say whether higher or lower values are better; say it with {} "
                            "{}=higher, =lower, or =none if neither is",
                            shown_text(metric), given.option(), metric));
}

std::optional<double> bound_of(std::string_view text) {
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || std::isnan(value))
    return std::nullopt;
  return value;
}

ValueRange bounds_of(const ByMetric& given, const std::string& metric, double lowest, double highest) {
  const auto text = given.of(metric);
  if (!text) return range_by_name(metric, lowest, highest);
  const std::vector<std::string> parts = parts_of(*text, ',');
  const auto low = bound_of(trimmed(parts.front())), high = bound_of(trimmed(parts.back()));
  if (parts.size() != 2 || !low || !high || !(*low < *high))
    throw Refused(fmt::format("{} {}: it must be the lowest and the highest possible value, as in 0,1 or 0,inf",
                              given.option(), shown_text(*text)));
  return {*low, *high};
}

void require_within(const ResultTable& table, const ResultRuns& runs, std::size_t m, const Metric& metric,
                    const std::string& option) {
  for (const ResultRun& run : runs.runs)
    for (const ResultValue& value : run.values[m])
      if (std::isfinite(value.value) && !metric.has(value.value))
        throw Refused(fmt::format("{}: {} is {:g}, beyond its bounds {:g} and {:g} ({})", table.place(value.line),
                                  shown_text(metric.name), value.value, metric.low, metric.high, option));
}

/// What a metric is, as far as the table and the options say it. A metric of Heed's own runs is known.
std::vector<Metric> metrics_of_table(const ResultTable& table, const ResultQuestion& question, const ResultRuns& runs) {
  const ByMetric directions(question.direction, question, runs, "direction"),
      bounds(question.bounds, question, runs, "bounds"), units(question.unit, question, runs, "unit");
  std::vector<Metric> out;
  for (std::size_t m = 0; m < runs.metrics.size(); ++m) {
    const std::string& name = runs.metrics[m];
    double lowest = infinity, highest = -infinity;
    for (const ResultRun& run : runs.runs)
      for (const ResultValue& value : run.values[m]) {
        if (!std::isfinite(value.value)) continue;
        lowest = std::min(lowest, value.value);
        highest = std::max(highest, value.value);
      }
    const bool asked = directions.of(name) || bounds.of(name) || units.of(name);
    const std::optional<Metric> known = runs.of_heed && !asked ? metric_named(Config(), name) : std::nullopt;
    if (known) {
      out.push_back(*known);
      continue;
    }
    if (name.starts_with("steps_to") && !bounds.of(name))
      throw Refused(fmt::format("{}: runs that never reached the target count as the metric's upper bound; say it with "
                                "{} 0,STEPS",
                                name, bounds.option()));
    Metric metric;
    metric.name = without_controls(name);
    metric.direction = direction_of(directions, name);
    const ValueRange range = bounds_of(bounds, name, lowest, highest);
    metric.low = range.low;
    metric.high = range.high;
    metric.unit = without_controls(units.of(name).value_or(""));
    std::string within;
    if (std::isfinite(range.low) && std::isfinite(range.high))
      within = fmt::format(", from {:g} to {:g}", range.low, range.high);
    else if (std::isfinite(range.low)) within = fmt::format(", at least {:g}", range.low);
    else if (std::isfinite(range.high)) within = fmt::format(", at most {:g}", range.high);
    const bool by_name = !directions.of(name) || (!within.empty() && !bounds.of(name));
    metric.description = fmt::format("{} of {}{}{}", runs.has_steps ? "the last value" : "the value", table.name,
                                     within,
                                     by_name ? fmt::format(" ({} by the metric's name)",
                                                           directions.of(name)                 ? "bounds"
                                                           : within.empty() || bounds.of(name) ? "direction"
                                                                                               : "direction and bounds")
                                             : "");
    require_within(table, runs, m, metric, bounds.option());
    out.push_back(std::move(metric));
  }
  return out;
}

// ---- arms -----------------------------------------------------------------------------------------------------------

/// The names of all arms, in the order of their first rows.
std::vector<std::string> arm_names(const ResultRuns& runs) {
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  for (const ResultRun& run : runs.runs)
    if (seen.insert(run.arm).second) out.push_back(run.arm);
  return out;
}

/// The arm that is called the reference, if the question names none.
std::optional<std::string> usual_reference(const std::vector<std::string>& arms) {
  std::vector<std::string> found;
  for (const std::string& arm : arms) {
    std::string word = arm;
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (word == "reference" || word == "baseline" || word == "control" || word.starts_with("reference (") ||
        word.ends_with("(reference)"))
      found.push_back(arm);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::string reference_arm(const ResultTable& table, const ResultQuestion& question,
                          const std::vector<std::string>& arms) {
  const std::string option = question.option("reference");
  if (question.reference.empty()) {
    if (const auto usual = usual_reference(arms)) return *usual;
    throw Refused(fmt::format("{}: no arm is called reference or baseline; name the arm that the others are compared "
                              "with: {} ARM; the arms are {}",
                              table.name, option, arms_in_words(arms)));
  }
  const std::string& wanted = question.reference;
  if (std::ranges::find(arms, wanted) != arms.end()) return wanted;
  std::vector<std::string> beginning;
  for (const std::string& arm : arms)
    if (arm.starts_with(wanted)) beginning.push_back(arm);
  if (beginning.size() == 1) return beginning.front();
  if (beginning.size() > 1)
    throw Refused(fmt::format("{}: {} {}: several arms begin so: {}; write the whole name", table.name, option,
                              shown_text(wanted), arms_in_words(beginning)));
  throw Refused(fmt::format("{}: {}: no arm is called {}{}; the arms are {}", table.name, option, shown_text(wanted),
                            did_you_mean(wanted, arms), arms_in_words(arms)));
}

/// The runs of a group, by arm; arms are in the order of the report.
struct ResultGroup {
  std::vector<std::string> values;
  std::vector<std::string> arms;
  std::map<std::string, std::vector<const ResultRun*>> runs;
};

/// A number for sorting groups, if all values of a column are numbers.
std::optional<double> group_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(number);
}

/// Groups with numbers are sorted by them; words keep the table's order, as in a sweep.
void sort_result_groups(std::vector<ResultGroup>& groups) {
  const std::size_t columns = groups.front().values.size();
  std::vector<std::vector<double>> ranks(groups.size());
  for (std::size_t column = 0; column < columns; ++column) {
    const bool numeric = std::ranges::all_of(groups, [&](const ResultGroup& group) {
      return group_number(group.values[column]).has_value();
    });
    std::vector<std::string> seen;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::string& text = groups[g].values[column];
      if (std::ranges::find(seen, text) == seen.end()) seen.push_back(text);
      ranks[g].push_back(numeric ? *group_number(text)
                                 : static_cast<double>(std::ranges::find(seen, text) - seen.begin()));
    }
  }
  std::vector<std::size_t> order(groups.size());
  for (std::size_t g = 0; g < order.size(); ++g) order[g] = g;
  std::ranges::stable_sort(order, {}, [&](std::size_t g) { return ranks[g]; });
  std::vector<ResultGroup> sorted;
  for (const std::size_t g : order) sorted.push_back(std::move(groups[g]));
  groups = std::move(sorted);
}

std::string group_in_words(const ResultRuns& runs, const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size(); ++i)
    parts.push_back(fmt::format("{} = {}", runs.group_names[i], values[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<ResultGroup> groups_of(const ResultTable& table, const ResultQuestion& question, const ResultRuns& runs) {
  const std::vector<std::string> arms = arm_names(runs);
  if (arms.size() < 2)
    throw Refused(fmt::format("{}: there is one arm only, {}; a comparison needs two. {} COLUMN names the column whose "
                              "values are compared; {}",
                              table.name, arms_in_words(arms), question.option("arm"), columns_in_words(table)));
  if (arms.size() > most_arms)
    throw Refused(
        fmt::format("{}: there are {} arms ({}); at most {} are compared. Is the arm another column? {} COLUMN "
                    "names it",
                    table.name, arms.size(), arms_in_words(arms), most_arms, question.option("arm")));
  const std::string reference = reference_arm(table, question, arms);
  std::vector<ResultGroup> out;
  std::map<std::vector<std::string>, std::size_t> places;
  for (const ResultRun& run : runs.runs) {
    const auto [place, is_new] = places.emplace(run.group, out.size());
    if (is_new) out.push_back({run.group, {}, {}});
    out[place->second].runs[run.arm].push_back(&run);
  }
  for (ResultGroup& group : out) {
    for (const std::string& arm : arms)
      if (group.runs.contains(arm)) group.arms.push_back(arm);
    const auto found = std::ranges::find(group.arms, reference);
    if (found == group.arms.end())
      throw Refused(fmt::format("{}: there is no run of the reference, {}, at {}; its arms are {}", table.name,
                                shown_text(reference), group_in_words(runs, group.values), arms_in_words(group.arms)));
    std::rotate(group.arms.begin(), found, found + 1);
  }
  sort_result_groups(out);
  return out;
}

// ---- runs -----------------------------------------------------------------------------------------------------------

/// Numbers for the seeds: the seeds themselves if all are whole numbers, else their places.
class SeedNumbers {
public:
  SeedNumbers(const ResultRuns& runs, bool paired) : whole_(runs.whole_seeds), paired_(paired) {
    if (whole_) return;
    for (const ResultRun& run : runs.runs)
      if (paired_) numbers_.emplace(run.pair, static_cast<std::int64_t>(numbers_.size()));
  }

  std::int64_t of(const std::string& pair) const { return whole_ ? whole_number(pair).value_or(0) : numbers_.at(pair); }
  /// The name for reports; empty if the number is the name.
  std::string name_of(const std::string& pair) const { return whole_ ? "" : pair; }

private:
  bool whole_, paired_;
  std::map<std::string, std::int64_t> numbers_;
};

/// What a state in the table says.
RunState state_by_word(const ResultTable& table, const ResultQuestion& question, const ResultRun& run, ReportRun& out) {
  static const std::map<std::string, RunState, std::less<>> words{
      {"", RunState::finished},         {"finished", RunState::finished},  {"completed", RunState::finished},
      {"complete", RunState::finished}, {"success", RunState::finished},   {"succeeded", RunState::finished},
      {"done", RunState::finished},     {"ok", RunState::finished},        {"failed", RunState::failed},
      {"crashed", RunState::failed},    {"killed", RunState::failed},      {"diverged", RunState::failed},
      {"error", RunState::failed},      {"errored", RunState::failed},     {"running", RunState::running},
      {"queued", RunState::queued},     {"pending", RunState::queued},     {"scheduled", RunState::queued},
      {"preempted", RunState::queued},  {"preempting", RunState::running}, {"interrupted", RunState::interrupted},
      {"missing", RunState::missing},   {"left out", RunState::finished},  {"gone", RunState::missing}};
  const auto found = words.find(run.state);
  if (found == words.end())
    throw Refused(
        fmt::format("{}: the state is {}; known are finished, completed, success (a result), failed, crashed, "
                    "killed (none), running, queued (not yet). Name another column with {} COLUMN, or write "
                    "{} none if it is not the state of a run",
                    table.place(run.line), shown_text(run.state), question.option("state"), question.option("state")));
  out.left_out = run.state == "left out";
  out.gone = run.state == "gone";
  return found->second;
}

/// Fills in a run's values by all metrics, or why it has none.
void take_results(const ResultRuns& table_runs, const ResultRun& from, ReportRun& run) {
  for (const ResultValue& value : from.values.front())
    if (table_runs.has_steps && std::isfinite(value.value)) run.curve.push_back({value.step, value.value});
  const auto last = [&](std::size_t m) {
    return from.values[m].empty() ? std::nullopt : std::optional(from.values[m].back().value);
  };
  const auto problem_of = [&](std::size_t m) {
    return last(m) ? fmt::format("{} was {:g}: no result", table_runs.metrics[m], *last(m))
                   : fmt::format("{} is empty: no result", table_runs.metrics[m]);
  };
  const auto is_result = [&](std::size_t m) { return last(m) && std::abs(*last(m)) <= greatest_result; };
  if (run.state != RunState::finished || run.left_out) {
    if (run.problem.empty() && run.state == RunState::failed) run.problem = fmt::format("its state is {}", from.state);
    if (run.problem.empty() && run.left_out) run.problem = "the table says that it is left out";
    if (run.problem.empty() && run.gone) run.problem = "the table says that it is gone";
    return;
  }
  for (std::size_t m = 1; m < from.values.size(); ++m) {
    run.also.push_back(is_result(m) ? last(m) : std::nullopt);
    run.also_problems.push_back(is_result(m) ? "" : without_controls(problem_of(m)));
  }
  if (is_result(0)) {
    run.value = last(0);
    return;
  }
  run.state = RunState::failed;
  if (run.problem.empty()) run.problem = without_controls(problem_of(0));
}

/// The number of parameters of an arm; empty if its runs do not say it. Throws heed::Refused if they differ.
std::optional<PlannedCost> cost_of_arm(const ResultTable& table, const std::vector<const ResultRun*>& runs) {
  const ResultRun* first = nullptr;
  for (const ResultRun* run : runs) {
    if (!run->parameters) continue;
    if (first && *first->parameters != *run->parameters)
      throw Refused(fmt::format("{}: {} has {} parameters in this run, and {} at {} {}; an arm has one number of them",
                                table.place(run->line), shown_text(run->arm), *run->parameters, *first->parameters,
                                table.counted, first->line));
    if (!first) first = run;
  }
  if (!first) return std::nullopt;
  return PlannedCost{.parameters = *first->parameters};
}

/// Makes the arms of a report.
class ArmMaker {
public:
  ArmMaker(const ResultTable& table, const ResultQuestion& question, const ResultRuns& runs)
      : table_(table), question_(question), runs_(runs), by_seed_(!runs.paired_by.empty()), numbers_(runs, by_seed_) {}

  void add_group(const ResultGroup& group, ReportData& report) {
    const std::size_t reference = report.arms.size();
    std::map<std::int64_t, std::string> seeds; // of the group's runs, with their texts
    if (by_seed_)
      for (const auto& [arm, runs] : group.runs)
        for (const ResultRun* run : runs) seeds.emplace(numbers_.of(run->pair), run->pair);
    for (const std::string& name : group.arms) {
      ReportArm arm;
      const std::string where = group_in_words(runs_, group.values);
      arm.label = where.empty() ? name : fmt::format("{}: {}", where, name);
      arm.name = where.empty() ? "" : name;
      arm.group = group.values;
      arm.reference = reference;
      const std::vector<const ResultRun*>& runs = group.runs.at(name);
      arm.cost = cost_of_arm(table_, runs);
      add_runs(runs, seeds, arm);
      if (arm.runs.size() > most_seeds)
        throw Refused(fmt::format("{}: {} has {} runs; at most {} are compared. If rows are evaluations of a run, name "
                                  "their column with {} COLUMN",
                                  table_.name, shown_text(name), arm.runs.size(), most_seeds,
                                  question_.option("step")));
      report.arms.push_back(std::move(arm));
    }
  }

private:
  ReportRun made(const ResultRun& from, std::int64_t seed) const {
    ReportRun run;
    run.id = from.id;
    run.seed = seed;
    if (!by_seed_) run.seed_name = from.id;
    else run.seed_name = numbers_.name_of(from.pair);
    run.problem = from.problem;
    run.state = state_by_word(table_, question_, from, run);
    take_results(runs_, from, run);
    run.seconds = from.seconds.value_or(0);
    return run;
  }

  /// Runs in the order of the seeds. If runs are paired, a seed that only other arms have is a run that is left out.
  void add_runs(const std::vector<const ResultRun*>& runs, const std::map<std::int64_t, std::string>& seeds,
                ReportArm& arm) {
    if (!by_seed_) {
      for (const ResultRun* run : runs) arm.runs.push_back(made(*run, next_++));
      return;
    }
    std::map<std::int64_t, const ResultRun*> by_seed;
    for (const ResultRun* run : runs) by_seed.emplace(numbers_.of(run->pair), run);
    for (const auto& [seed, text] : seeds) {
      if (const auto found = by_seed.find(seed); found != by_seed.end()) {
        arm.runs.push_back(made(*found->second, seed));
        if (found->second->state == "missing") leave_out(arm.runs.back());
      } else if (question_.test != "unpaired") {
        ReportRun& run = arm.runs.emplace_back();
        run.seed = seed;
        run.seed_name = numbers_.name_of(text);
        leave_out(run);
      }
    }
  }

  void leave_out(ReportRun& run) const {
    run.left_out = run.no_row = true;
    run.problem = fmt::format("{} has no result of it", table_.name);
  }

  const ResultTable& table_;
  const ResultQuestion& question_;
  const ResultRuns& runs_;
  bool by_seed_;
  SeedNumbers numbers_;
  std::int64_t next_ = 0; ///< numbers of runs without seeds, which differ in all arms
};

// ---- the report -----------------------------------------------------------------------------------------------------

/// A warning if runs end at different steps.
std::string ends_in_words(const ReportData& report) {
  std::int64_t latest = 0;
  std::size_t all = 0, early = 0;
  const ReportArm* arm = nullptr;
  const ReportRun* first = nullptr;
  const auto each = [&](const auto& use) {
    for (const ReportArm& of : report.arms)
      for (const ReportRun& run : of.runs)
        if (run.value && !run.curve.empty()) use(of, run);
  };
  each([&](const ReportArm&, const ReportRun& run) { latest = std::max(latest, run.curve.back().step); });
  each([&](const ReportArm& of, const ReportRun& run) {
    ++all;
    if (run.curve.back().step == latest) return;
    if (early++ > 0) return;
    arm = &of;
    first = &run;
  });
  if (early == 0) return "";
  return fmt::format(
      "Different ends: {} of {} runs end before step {}, which is the last of the others (the first: {}, "
      "{}, at step {}). The last value of each run counts, so runs of different lengths are compared.",
      early, all, latest, arm->label,
      report.table->paired_by.empty() ? first->id : fmt::format("seed {}", first->seed_text()),
      first->curve.back().step);
}

std::string report_name(const ResultTable& table, const ResultQuestion& question) {
  if (!question.name.empty()) return without_controls(question.name);
  std::string name = table.name;
  if (const std::size_t slash = name.rfind('/'); slash != std::string::npos) name.erase(0, slash + 1);
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  return without_controls(name);
}

void require_question(const ResultTable& table, const ResultQuestion& question) {
  if (question.metrics.empty())
    throw Refused(fmt::format("{}: no metric is named; name its column with {} COLUMN; {}", table.name,
                              question.option("metric"), columns_in_words(table)));
  std::set<std::string> seen;
  for (const std::string& metric : question.metrics)
    if (!seen.insert(metric).second)
      throw Refused(fmt::format("{} names {} twice", question.option("metric"), shown_text(metric)));
  const auto require_word = [&](const std::string& value, const char* option, const std::vector<std::string>& words) {
    if (std::ranges::find(words, value) == words.end())
      throw Refused(fmt::format("{} {}: it must be {}{}", question.option(option), shown_text(value),
                                list_in_words(words), did_you_mean(value, words)));
  };
  require_word(question.test, "test", {"paired", "unpaired"});
  require_word(question.precision, "precision", {"float32", "float64"});
  if (question.margin && !(*question.margin > 0 && std::isfinite(*question.margin)))
    throw Refused(fmt::format("{} is {:g}; it must be a number above 0, in the metric's unit",
                              question.option("margin"), *question.margin));
  if (question.learned && !std::isfinite(*question.learned))
    throw Refused(fmt::format("{} is {:g}; it must be a value of the metric", question.option("learned"),
                              *question.learned));
}

} // namespace

ReportData compare_results(const ResultTable& table, const ResultQuestion& question) {
  require_question(table, question);
  const ResultRuns runs = is_wide(table, question) ? runs_of_wide_table(table, question)
                                                   : runs_of_rows(table, question);
  const std::vector<ResultGroup> groups = groups_of(table, question, runs);
  const std::vector<Metric> metrics = metrics_of_table(table, question, runs);
  ReportData report;
  report.name = report_name(table, question);
  report.question = without_controls(question.question);
  report.sweep = true;
  report.table = ReportTable{.file = without_controls(table.name),
                             .paired_by = without_controls(runs.paired_by),
                             .columns = without_controls(runs.columns),
                             .warnings = {}};
  report.metric = metrics.front();
  report.also.assign(metrics.begin() + 1, metrics.end());
  report.margin = question.margin;
  report.learned = question.learned;
  report.test = question.test == "unpaired" ? statistics::Test::unpaired : statistics::Test::paired;
  report.resolution = question.precision == "float64" ? 0x1p-50 : 0x1p-23;
  for (const std::string& name : runs.group_names)
    report.within.push_back({without_controls(name), without_controls(name)});
  ArmMaker maker(table, question, runs);
  for (const ResultGroup& group : groups) maker.add_group(group, report);

  std::set<std::int64_t> seeds;
  std::size_t most = 0;
  for (const ReportArm& arm : report.arms) {
    most = std::max(most, arm.runs.size());
    for (const ReportRun& run : arm.runs) seeds.insert(run.seed);
  }
  if (!runs.paired_by.empty()) report.seeds.assign(seeds.begin(), seeds.end());
  else // runs without seeds are only counted
    for (std::size_t i = 0; i < most; ++i) report.seeds.push_back(static_cast<std::int64_t>(i));
  compute_statistics(report);
  if (const std::string ends = ends_in_words(report); !ends.empty()) report.table->warnings.push_back(ends);
  return report;
}

} // namespace heed
