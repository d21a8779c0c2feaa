#include "experiments/results/compare_results.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/data/normal_form.hpp"
#include "experiments/metrics/task_scale.hpp"
#include "experiments/results/result_groups.hpp"
#include "experiments/results/result_runs.hpp"
#include "experiments/results/table_metrics.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

namespace {

/// Values beyond float32's range are no results, as in a sweep.
constexpr double greatest_result = std::numeric_limits<float>::max();
/// The sampled flips or permutations of more runs of an arm would take minutes.
constexpr std::size_t most_pairs = 10'000, most_unpaired = 2'000;
/// At least this number of missing runs may be shown; in larger tables, as many as there are runs. They can be arms
/// times seeds.
constexpr std::size_t most_missing = 100'000;

/// Numbers for the seeds: the seeds themselves if all are whole numbers, else their places.
class SeedNumbers {
public:
  SeedNumbers(const ResultRuns& runs, bool paired) : whole_(runs.whole_seeds) {
    if (whole_ || !paired) return;
    for (const ResultRun& run : runs.runs) numbers_.emplace(run.pair, static_cast<std::int64_t>(numbers_.size()));
  }

  std::int64_t of(const std::string& pair) const { return whole_ ? whole_number(pair).value_or(0) : numbers_.at(pair); }
  /// The name for reports; empty if the number is the name.
  std::string name_of(const std::string& pair) const { return whole_ ? "" : pair; }

private:
  bool whole_;
  std::map<std::string, std::int64_t> numbers_;
};

/// What a state in the table says.
RunState state_by_word(const ResultTable& table, const ResultRequest& question, const ResultRun& run, ReportRun& out) {
  using Words = std::vector<std::string_view>;
  static const std::pair<RunState, Words> states[] = {
      {RunState::finished, {"", "finished", "completed", "complete", "success", "succeeded", "done", "ok", "left out"}},
      {RunState::failed, {"failed", "crashed", "killed", "diverged", "error", "errored"}},
      {RunState::running, {"running", "preempting"}},
      {RunState::queued, {"queued", "pending", "scheduled", "preempted", "not chosen yet"}},
      {RunState::interrupted, {"interrupted"}},
      {RunState::missing, {"missing", "gone"}}};
  const auto found = std::ranges::find_if(states, [&](const auto& state) {
    return std::ranges::find(state.second, run.state) != state.second.end();
  });
  if (found == std::end(states))
    throw Refused(
        fmt::format("{}: the state is {}; known are finished, completed, success (a result), failed, crashed, "
                    "killed (none), running, queued (not yet). Name another column with {} COLUMN, or write "
                    "{} none if it is not the state of a run",
                    table.place(run.line), shown_text(run.state), question.option("state"), question.option("state")));
  if (run.state == "left out") out.exclusion = RunExclusion::unusable;
  if (run.state == "gone") out.exclusion = RunExclusion::gone;
  return found->first;
}

/// Fills in a run's values by all metrics, or why it has none.
void take_results(const ResultRuns& table_runs, const ResultRun& from, ReportRun& run) {
  for (const ResultValue& value : from.values.front())
    if (table_runs.has_steps && std::isfinite(value.value)) run.curve.push_back({value.step, value.value});
  const auto last = [&](std::size_t m) {
    return from.values[m].empty() ? std::nullopt : std::optional(from.values[m].back().value);
  };
  const auto problem_of = [&](std::size_t m) {
    if (from.holes[m] >= 0)
      return fmt::format("{} is empty at step {}, where most runs have a value: no result", table_runs.metrics[m],
                         from.holes[m]);
    return last(m) ? fmt::format("{} was {:g}: no result", table_runs.metrics[m], *last(m))
                   : fmt::format("{} is empty: no result", table_runs.metrics[m]);
  };
  const auto is_result = [&](std::size_t m) {
    return last(m) && std::abs(*last(m)) <= greatest_result && from.holes[m] < 0;
  };
  if (run.state != RunState::finished || run.is_left_out()) {
    if (run.problem.empty() && run.state == RunState::failed) run.problem = fmt::format("its state is {}", from.state);
    if (run.problem.empty() && run.is_left_out()) run.problem = "the table says that it is left out";
    if (run.problem.empty() && run.is_gone()) run.problem = "the table says that it is gone";
    return;
  }
  for (std::size_t m = 1; m < from.values.size(); ++m) {
    run.also.push_back(is_result(m) ? last(m) : std::nullopt);
    run.also_problems.push_back(is_result(m) ? "" : problem_of(m));
  }
  if (is_result(0)) {
    run.value = last(0);
    run.examples = from.examples;
    return;
  }
  run.state = RunState::failed;
  if (run.problem.empty()) run.problem = problem_of(0);
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
  ArmMaker(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs)
      : table_(table), question_(question), runs_(runs), by_seed_(!runs.paired_by.empty()),
        pairs_(by_seed_ && question.test != "unpaired"), numbers_(runs, by_seed_) {}

  void add_group(const ResultGroup& group, ReportData& report) {
    const std::size_t reference = report.arms.size();
    Seeds of_reference, of_all;
    if (pairs_) {
      of_reference = seeds_of(group.runs.at(group.arms.front()));
      for (const auto& [arm, runs] : group.runs) of_all.merge(seeds_of(runs));
    }
    for (const std::string& name : group.arms) {
      poll_caller();
      ReportArm arm;
      const std::string where = group_in_words(runs_, group.values);
      arm.label = where.empty() ? name : fmt::format("{}: {}", where, name);
      arm.name = where.empty() ? "" : name;
      arm.group = group.values;
      arm.reference = reference;
      const std::vector<const ResultRun*>& runs = group.runs.at(name);
      if (const std::size_t most = question_.test == "unpaired" ? most_unpaired : most_pairs; runs.size() > most)
        throw Refused(fmt::format("{}: {} has {} runs; at most {} are compared. If rows are evaluations of a run, name "
                                  "their column with {} COLUMN",
                                  table_.name, shown_text(name), runs.size(), most, question_.option("step")));
      arm.cost = cost_of_arm(table_, runs);
      add_runs(runs, report.arms.size() == reference ? of_all : of_reference, arm);
      report.arms.push_back(std::move(arm));
    }
  }

private:
  using Seeds = std::map<std::int64_t, std::string>; // with their texts

  Seeds seeds_of(const std::vector<const ResultRun*>& runs) const {
    Seeds out;
    for (const ResultRun* run : runs) out.emplace(numbers_.of(run->pair), run->pair);
    return out;
  }

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

  /// Runs in the order of the seeds.
  /// @param needed  if runs are paired: the seeds that the arm should have. Those that it lacks are runs that are left
  ///                out. A reference should have all seeds of its group, and another arm those of its reference; what
  ///                it lacks of a third arm changes nothing.
  void add_runs(const std::vector<const ResultRun*>& runs, const Seeds& needed, ReportArm& arm) {
    if (!by_seed_) {
      for (const ResultRun* run : runs) arm.runs.push_back(made(*run, next_++));
      return;
    }
    std::map<std::int64_t, const ResultRun*> by_seed;
    for (const ResultRun* run : runs) by_seed.emplace(numbers_.of(run->pair), run);
    for (const auto& [seed, text] : needed) missing_ += !by_seed.contains(seed);
    require_few_missing();
    for (const auto& [seed, text] : needed) by_seed.emplace(seed, nullptr);
    for (const auto& [seed, run] : by_seed) {
      if (run) {
        arm.runs.push_back(made(*run, seed));
        if (run->state == "missing") leave_out(arm.runs.back());
        continue;
      }
      ReportRun& missing = arm.runs.emplace_back();
      missing.seed = seed;
      missing.seed_name = numbers_.name_of(needed.at(seed));
      leave_out(missing);
    }
  }

  void require_few_missing() const {
    const std::size_t most = std::max(most_missing, runs_.runs.size());
    if (missing_ <= most) return;
    throw Refused(
        fmt::format("{}: {} runs have rows, and more than {} are missing: seeds ({}) that a reference has and "
                    "an arm lacks, or the other way round. At most {} can be missing. Leave out rows of seeds "
                    "that few arms have, or compare runs without pairs with {} unpaired",
                    table_.name, runs_.runs.size(), most, runs_.paired_by, most, question_.option("test")));
  }

  void leave_out(ReportRun& run) const {
    run.exclusion = RunExclusion::no_row;
    run.problem = fmt::format("{} has no result of it", table_.file());
  }

  const ResultTable& table_;
  const ResultRequest& question_;
  const ResultRuns& runs_;
  bool by_seed_, pairs_; ///< pairs_: runs with the same seed are compared
  SeedNumbers numbers_;
  std::size_t missing_ = 0; ///< runs of all arms so far that have no row
  std::int64_t next_ = 0;   ///< numbers of runs without seeds, which differ in all arms
};

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

/// The same for the further metrics, which may have values at other steps.
std::vector<std::string> further_ends_in_words(const ResultRuns& runs) {
  std::vector<std::string> out;
  if (!runs.has_steps) return out;
  for (std::size_t m = 1; m < runs.metrics.size(); ++m) {
    std::int64_t latest = 0;
    for (const ResultRun& run : runs.runs)
      if (!run.values[m].empty()) latest = std::max(latest, run.values[m].back().step);
    const auto early = std::ranges::count_if(runs.runs, [&](const ResultRun& run) {
      return !run.values[m].empty() && run.values[m].back().step < latest;
    });
    if (early > 0)
      out.push_back(
          fmt::format("Different ends of {}: {} of {} runs have no value at step {}, which is the last of the "
                      "others. The last value of each run counts.",
                      shown_name(runs.metrics[m]), early, runs.runs.size(), latest));
  }
  return out;
}

/// A name of which spellings of one thing are the same: numbers by their value, Unicode in its composed form, blanks as
/// one space.
std::string as_one_spelling(std::string_view name) {
  std::string text = composed(name);
  for (const std::string_view blank : {"\u00a0", "\u2007", "\u2009", "\u202f", "\u3000", "\t"})
    for (std::size_t at = 0; (at = text.find(blank, at)) != std::string::npos;) text.replace(at, blank.size(), " ");
  std::string out;
  for (const std::string& word : parts_of(text, ' ')) {
    if (word.empty()) continue;
    const bool comma = word.back() == ','; // "lr = 0.1, width = 8"
    const std::string_view number = std::string_view(word).substr(0, word.size() - comma);
    const std::optional<double> value = read_number(number);
    out += (out.empty() ? "" : " ") + (value ? fmt::format("{}{}", *value, comma ? "," : "") : word);
  }
  return out;
}

/// Warnings about arms and groups that may be one, spelled in two ways.
std::vector<std::string> spellings_in_words(const ResultRuns& runs) {
  std::vector<std::string> out;
  std::map<std::string, std::string> first; // by its one spelling
  std::set<std::string> told;
  const auto look_at = [&](const std::string& name, const char* what, const std::string& place) {
    const auto [known, is_new] = first.try_emplace(place + as_one_spelling(name), name);
    if (!is_new && known->second != name && told.insert(place + name).second)
      out.push_back(fmt::format(
          "Two spellings: {} and {} are different {}s here. If they are one, spell them alike in the table.",
          shown_text(known->second), shown_text(name), what));
  };
  PolledWork work;
  for (const ResultRun& run : runs.runs) {
    work.did(1000);
    look_at(run.arm, "arm", "arm:");
    for (std::size_t i = 0; i < run.group.size(); ++i) look_at(run.group[i], "group", fmt::format("{}:", i));
  }
  return out;
}

std::string report_name(const ResultTable& table, const ResultRequest& question) {
  if (!question.name.empty()) return shown_name(question.name);
  if (table.name == "standard input") return "results";
  std::string name = table.file();
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

void require_question(const ResultTable& table, const ResultRequest& question) {
  if (question.metrics.empty())
    throw Refused(fmt::format("{}: no metric is named; name its column with {} COLUMN; {}{}", table.name,
                              question.option("metric"), columns_in_words(table),
                              hint_of_arms_as_columns(table, question, "metric")));
  std::set<std::string> seen;
  for (const std::string& metric : question.metrics)
    if (!seen.insert(metric).second)
      throw Refused(fmt::format("{} names {} twice", question.option("metric"), shown_text(metric)));
  const auto require_word = [&](const std::string& value, const char* option, const std::vector<std::string>& words) {
    if (std::ranges::find(words, value) == words.end())
      throw Refused(fmt::format("{} {}: it must be {}{}", question.option(option), shown_text(value),
                                list_in_words(words), did_you_mean(value, words)));
  };
  require_word(question.answer, "answer", {"same", "not worse"});
  require_word(question.test, "test", {"paired", "unpaired"});
  require_word(question.over, "over", {"none", "these tasks", "tasks like these"});
  if (question.scale == "chance to best")
    throw Refused(
        fmt::format("{} \"chance to best\": a table does not say what guessing reaches; take \"metric\", or a "
                    "number for each group: how far chance is from the best value",
                    question.option("scale")));
  require_word(question.precision, "precision", {"float32", "float64"});
  if (question.margin && !(*question.margin > 0 && std::isfinite(*question.margin)))
    throw Refused(fmt::format("{} is {:g}; it must be a number above 0, in the metric's unit",
                              question.option("margin"), *question.margin));
  if (question.learned && !std::isfinite(*question.learned))
    throw Refused(fmt::format("{} is {:g}; it must be a value of the metric", question.option("learned"),
                              *question.learned));
}

} // namespace

ReportData compare_results(const ResultTable& table, const ResultRequest& question) {
  require_question(table, question);
  const ResultRuns runs = is_wide(table, question) ? runs_of_wide_table(table, question)
                                                   : runs_of_rows(table, question);
  const std::vector<ResultGroup> groups = groups_of(table, question, runs);
  std::vector<std::string> warnings = spellings_in_words(runs);
  const std::vector<Metric> metrics = metrics_of_table(table, question, runs, warnings);
  if (question.answer != "same")
    metrics.front().require_noninferiority(question.margin, question.option("answer"), question.option("margin"),
                                           question.option("metric") + " or " + question.option("direction"));
  require_over_tasks({.over = question.over,
                      .scale = question.scale,
                      .tasks = groups.size(),
                      .unpaired = question.test == "unpaired" || runs.paired_by.empty(),
                      .not_worse = question.answer != "same",
                      .given_over = question.option("over"),
                      .given_scale = question.option("scale"),
                      .groups = question.option("group") + " COLUMN"},
                     metrics.front());
  if (question.margin) metrics.front().require_margin(*question.margin, question.option("margin"));
  if (question.learned) metrics.front().require_value(*question.learned, question.option("learned"));
  ReportData report;
  report.name = report_name(table, question);
  report.question = question.question;
  report.sweep = true;
  report.table = ReportTable{
      .file = table.file(), .paired_by = runs.paired_by, .columns = runs.columns, .warnings = std::move(warnings)};
  report.metric = metrics.front();
  report.also.assign(metrics.begin() + 1, metrics.end());
  report.margin = question.margin;
  if (question.answer != "same") report.asked = statistics::Question::not_worse;
  if (question.over != "none")
    report.over = OverTasks{.tasks = question.over == "these tasks" ? statistics::TaskScope::these
                                                                    : statistics::TaskScope::like_these,
                            .scale = question.scale,
                            .units = units_of_scale(question.scale, question.option("scale"))};
  report.learned = question.learned;
  report.examples = !question.examples.empty();
  report.test = question.test == "unpaired" ? statistics::Test::unpaired : statistics::Test::paired;
  report.resolution = question.precision == "float64" ? 0x1p-50 : 0x1p-23;
  for (const std::string& name : runs.group_names) report.within.push_back({name, name});
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
  for (std::string& ends : further_ends_in_words(runs)) report.table->warnings.push_back(std::move(ends));
  return report;
}

} // namespace heed
