// The data of a report, collected from a sweep's plan and its run folders. All renderers (terminal, Markdown, ...) take
// only this data.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/report/attention_maps.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/example_variance.hpp"
#include "experiments/statistics/over_tasks.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/statistics/variance_sources.hpp"
#include "experiments/sweep/history.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// One point of a learning curve: the metric as evaluated after `step`.
struct CurvePoint {
  std::int64_t step = 0;
  double value = 0;
};

/// The metric over the sequences of one length.
struct LengthPoint {
  std::int64_t length = 0;
  double value = 0;
};

/// Why a report excludes a run, whatever its state.
enum class RunExclusion {
  none,
  unusable, ///< its folder cannot be trusted (read_entry), or the table says so; `problem` is the reason
  gone,     ///< it had finished, but its folder is missing now
  no_row    ///< a table of results has no row for it
};

/// One run of an arm. Of a run that is left out (`is_left_out`) only the ID and the seed are known: it is in no count
/// and in no statistic.
struct ReportRun {
  std::string id;
  std::int64_t seed = 0;
  RunState state = RunState::missing;
  RunExclusion exclusion = RunExclusion::none;
  std::string seed_name = {};  ///< how reports write the seed; empty: as the number
  std::optional<double> value; ///< the metric's last evaluation; only for a finished run
  /// Likewise for each of ReportData::also; empty: not finite, or not measured.
  std::vector<std::optional<double>> also;
  std::vector<std::string> also_problems;    ///< for each of `also`: "val_loss came to nan: no result"; empty otherwise
  std::vector<CurvePoint> curve;             ///< the curves' metric at every evaluation so far
  std::vector<CurvePoint> training;          ///< train_loss, each time that it was recorded
  std::vector<CurvePoint> validation;        ///< val_loss, of a report with one arm whose curves are of another metric
  std::vector<std::optional<double>> others; ///< the last value of each of ReportData::others
  /// The last evaluation's metrics by length, sorted by length: val_accuracy_by_length, val_loss_at and so on; only for
  /// a finished run.
  std::map<std::string, std::vector<LengthPoint>, std::less<>> lengths;
  double seconds = 0;                      ///< training time
  std::vector<std::string> start_changes;  ///< StartRecord::changes
  std::string problem;                     ///< why it failed, or what is wrong with its folder; empty otherwise
  std::filesystem::path folder;            ///< may not exist yet
  std::vector<AttentionExample> attention; ///< attention.json, if the run has one
  /// With ReportData::examples: the metric of each validation example; their mean is `value`. Empty: not known.
  std::vector<double> examples;
  std::string examples_problem;  ///< why they are not known; empty otherwise
  std::string attention_problem; ///< why attention weights are missing or incomplete; empty otherwise

  std::string seed_text() const { return seed_name.empty() ? std::to_string(seed) : seed_name; }
  /// Whether the numbers of the training became infinite or NaN. The same configuration then fails again.
  bool diverged() const {
    return problem.find(" is not finite") != std::string::npos || problem.ends_with(": no result");
  }
  /// Whether it has finished, but has no result in the metric.
  bool unmeasured() const { return state == RunState::finished && !value; }
  /// Whether what its folder or the table says of it is not used.
  bool is_left_out() const { return exclusion == RunExclusion::unusable || exclusion == RunExclusion::no_row; }
  bool is_gone() const { return exclusion == RunExclusion::gone; }
  bool has_no_row() const { return exclusion == RunExclusion::no_row; }
  /// Whether the run has ended, but is in no statistics: excluded, failed, or without a result in the metric.
  bool is_excluded() const { return exclusion != RunExclusion::none || state == RunState::failed || unmeasured(); }
  /// In up to three words: its state, "left out", "gone", or "not chosen yet" while its arm is being tuned.
  std::string_view status() const {
    switch (exclusion) {
      case RunExclusion::unusable: return "left out";
      case RunExclusion::gone: return "gone";
      case RunExclusion::no_row: return name_of(RunState::missing);
      case RunExclusion::none: break;
    }
    return id.empty() ? "not chosen yet" : name_of(state);
  }
};

/// How many of an arm's seeds learned: the metric is at the threshold or better. A failed run has not learned.
struct Learned {
  std::size_t seeds = 0, of = 0;
};

/// Seeds that learned, of an arm and its reference. Present if outcomes are bimodal, or if [report] learned gives a
/// threshold.
struct LearnedSeeds {
  double threshold = 0;
  bool found = true; ///< true: estimated from the gap between the two modes; false: it is [report] learned
  /// With `found`: the gap's middle was worse than `least_learned` (limits.hpp: 5 % of the way from chance to the
  /// metric's bound), so the threshold is `least_learned`.
  bool is_least = false;
  Learned arm, reference;
  double p = 1;         ///< Fisher's exact test of the two proportions, corrected for all compared arms (Holm)
  std::size_t arms = 1; ///< the number of these arms
};

/// An arm's statistics by one of the further metrics, as in ReportArm.
struct FurtherResult {
  std::size_t values = 0;
  std::optional<double> mean, standard_deviation, interquartile_mean;
  std::optional<statistics::Comparison> comparison = {};
  std::size_t look = 0; ///< as ReportArm::look
};

/// What an arm has over all tasks (OverTasks), beside its comparison.
struct ResultOverTasks {
  /// Of all its runs in all tasks; with an interval from 8 runs a task.
  std::optional<statistics::Estimate> interquartile_mean;
  std::optional<statistics::Estimate> improvement; ///< only from 8 runs a task, of the arm and of the reference
  std::vector<statistics::Estimate> profile;       ///< at OverTasks::thresholds; empty below 8 runs a task
  std::map<std::string, std::size_t> answers;      ///< number of tasks by the arm's own answer there: "better"
  std::size_t excluded = 0;                        ///< its runs and the reference's that failed or cannot be used
};

/// [report] over: one answer over the groups, which are called tasks.
struct OverTasks {
  statistics::TaskScope tasks = statistics::TaskScope::these;
  std::string scale = "metric";   ///< metric | chance to best | a number for each task: "0.2, 1.5"
  std::vector<double> units = {}; ///< these numbers
  // The others are filled in by `answer_over_tasks`.
  std::vector<std::string> names = {};   ///< of the tasks: "length = 64"
  bool common_seeds = true;              ///< all tasks have the same seeds
  std::vector<double> thresholds = {};   ///< of the performance profiles
  std::vector<std::string> lacking = {}; ///< why arms have no row over all tasks: "gated lacks length = 64"
  std::string problem = {};              ///< why there is no row at all; empty otherwise
  bool is_own_metric() const { return scale == "metric"; }
  bool is_from_chance() const { return scale == "chance to best"; }
};

/// An arm with its runs, in the order of the plan's seeds, and its statistics.
struct ReportArm {
  std::string label;              ///< as the report shows it: with [report.label], and a reference's values
  std::size_t reference = 0;      ///< index of the arm that it is compared with; a reference has its own index
  std::vector<std::string> group; ///< its values of ReportData::within
  std::string name;               ///< its name within its group; empty without groups
  std::string own_label = {};     ///< its label without [report.label], for files that programs read; empty: `label`
  std::string own_name = {};      ///< likewise its name within its group
  std::vector<PlannedChange> changes;
  std::vector<ReportRun> runs;
  std::optional<PlannedCost> cost;    ///< empty: not in the plan
  std::optional<Task::Chance> chance; ///< empty if the data does not exist any more
  /// Likewise for sequences of each of [train] evaluate_lengths.
  std::map<std::int64_t, Task::Chance> chance_at_lengths = {};
  std::int64_t evaluated_examples = 0; ///< of validation, in an evaluation; 0: it is one text, or not known
  std::string start = {};              ///< the run that its runs start from ([train] start); empty: initial weights
  /// Why its model can see its prediction targets; empty: it cannot, or the data does not exist any more.
  std::string leakage;
  std::size_t values = 0;                         ///< n: number of runs with the metric
  std::optional<double> mean, standard_deviation; ///< of the metric over the seeds
  std::optional<double> interquartile_mean;       ///< likewise
  /// The comparison with its reference, over their common seeds. Empty for a reference, and without common seeds.
  std::optional<statistics::Comparison> comparison;
  std::vector<FurtherResult> also; ///< for each of ReportData::also
  /// If its answer was found at an earlier look: the comparison over the seeds of the last look so far.
  std::optional<statistics::Comparison> later;
  /// With planned looks: the number of seeds at which its answer was found, or up to which it is still open. 0: no
  /// looks, or none so far.
  std::size_t look = 0;
  /// If the arm is undecided: the difference that the same number of seeds would find in 80 of 100 sweeps whose noise
  /// has the upper 80 % bound of the spread s of the differences, s sqrt((n - 1) / chi2), where chi2 is the 20 %
  /// quantile of the chi-squared distribution with n - 1 degrees of freedom (`statistics::smallest_effect`). Empty
  /// otherwise, if the differences do not vary, if p is of ranks, and if it would exceed the metric's range.
  std::optional<double> smallest_found;
  /// Empty for a reference, without runs to compare, for a metric without a better direction, and, unless [report]
  /// learned is given, for unimodal outcomes or a gap that is too small.
  std::optional<LearnedSeeds> learned;
  /// p of the report's test (paired or unpaired) on ranks, in which failed runs count as the worst, for this arm only;
  /// and whether the arm is then better. If the report asks for *not worse*, the one-sided p of the arm's answer, or of
  /// *not worse* if it is open: of ranks of values that are moved by the margin. Empty for a reference, without a
  /// comparison, for a metric without a better direction, and if no run of the arm or its reference failed.
  std::optional<double> p_failed_worst;
  /// With ReportData::examples: the difference with an interval over other seeds and examples.
  std::optional<statistics::OverExamples> over_examples = {};
  bool better_failed_worst = false;
  std::optional<ResultOverTasks> over_tasks = {}; ///< only of the arms of ReportData::overall
  /// Of a tuned arm whose answer is found, or whose reference is tuned: p of the answer with the choice of the settings
  /// as further noise (`statistics::p_with_choices`), for this arm only. Empty if p is of ranks.
  std::optional<double> p_choices;
  /// The proportions of draws in which the tuning of the arm, and of its reference, chooses another setting.
  double other_choices = 0, other_choices_of_reference = 0;
  /// Its label and its name without [report.label].
  const std::string& true_label() const { return own_label.empty() ? label : own_label; }
  const std::string& true_name() const { return own_name.empty() ? name : own_name; }
  /// What it is called below the heading of its group: its name, or its label without groups.
  const std::string& short_label() const { return name.empty() ? label : name; }
  const std::string& true_short_label() const { return true_name().empty() ? true_label() : true_name(); }
  double seconds = 0; ///< training time, mean over finished runs
  std::string config; ///< resolved, as TOML, of its first seed
  /// Differences of configuration: a is its reference's option, b is this arm's. A group's reference is compared with
  /// the first arm.
  std::vector<Difference> differences;
  /// The longest sequences of its training, in the unit of [train] evaluate_lengths; empty if the task has no such
  /// option.
  std::optional<std::int64_t> training_length;
  std::optional<BudgetMatch> matched; ///< only if arms are matched (ReportData::match)
};

/// Whether the effect of an option depends on another (`contrasts_of`).
struct Interaction {
  std::string option;      ///< the arm that changes only this option: "score = additive"
  std::string with;        ///< "heads = 8", or a group, "length = 64"
  std::string true_option; ///< `option` and `with` without [report.label]
  std::string true_with;
  std::string without; ///< "by itself", or "with length = 16", the first group
  /// The group in which two options are crossed; empty: no groups, or the groups are one of the crossed factors.
  std::string group;
  double effect_without = 0, effect_with = 0; ///< arm - reference, means over the seeds that all four arms have
  std::vector<std::size_t> arms = {};         ///< the indices of the four arms
  statistics::Comparison comparison = {};     ///< of effect_with - effect_without
};
/// What the runs of [sweep] vary say of one metric.
struct VarianceOfMetric {
  statistics::VarianceSources found;                  ///< in the order of ReportVariation::sources
  std::size_t seeds = 0;                              ///< number of the reference's replicates with the metric
  std::optional<double> seeds_spread;                 ///< their standard deviation
  std::optional<statistics::Interval> seeds_interval; ///< its 95 % interval
};

/// The runs of [sweep] vary.
struct ReportVariation {
  std::vector<std::string> sources; ///< names of `chance_sources()`
  std::size_t values = 0, fixings = 0;
  std::vector<ReportRun> runs;             ///< those that are no replicates
  std::vector<std::string> labels;         ///< "fixing 1, init 10001", of each of them
  std::size_t planned = 0;                 ///< number of all runs, with the replicates among them
  std::size_t open = 0, lost = 0;          ///< those without a value: to come, or ended
  std::vector<VarianceOfMetric> by_metric; ///< of the report's metric, then of each further metric
};

/// The runs of an arm, or of its reference, that the arm's comparison uses: those of its look, or all.
inline std::span<const ReportRun> compared_runs(const ReportArm& arm, const ReportArm& whose) {
  const std::size_t all = whose.runs.size();
  return std::span(whose.runs).first(arm.look == 0 ? all : std::min(arm.look, all));
}

/// The value of a run that never reached the target of steps_to: it is only known to be no less. Empty for other
/// metrics.
inline std::optional<double> censoring_value(const Metric& metric) {
  return metric.name.starts_with("steps_to") && metric.has_upper_bound() ? std::optional(metric.high) : std::nullopt;
}
inline bool is_censored(const Metric& metric, double value) { return censoring_value(metric) == value; }

inline bool is_found(statistics::Answer answer) {
  return answer != statistics::Answer::undecided && answer != statistics::Answer::underpowered;
}

/// Machine and build of some runs. Runs with equal manifests are grouped.
struct ReportMachine {
  std::string description; ///< "heed 0.2.0, gcc 12.2.0 ..., on CPU"
  std::size_t runs = 0;
};

/// A table of results that were made elsewhere (experiments/results), in place of a plan and run folders.
struct ReportTable {
  std::string file;                  ///< its name, or "standard input"
  std::string paired_by;             ///< the columns that pair runs: "seed", "seed and fold"; empty: it has no seeds
  std::string columns;               ///< which columns were read as what, in words
  std::vector<std::string> warnings; ///< what a reader must know before the numbers
};

struct ReportData {
  std::string name, hash;
  std::string question; ///< the question of the sweep, in words; may be empty
  bool sweep = false;
  std::map<std::string, std::string> labels; ///< [report.label]: texts by the name of a metric or an arm
  std::string reference_values; ///< "position = none": the reference's values of the options that arms change
  Metric metric;
  std::optional<Metric> evaluated; ///< METRIC, if the metric is steps_to(METRIC, VALUE)
  std::vector<Metric> also;        ///< further metrics; they form one family of comparisons with the main metric
  /// Of a report with one arm: all other metrics that its runs measure, except those of single lengths.
  std::vector<Metric> others;
  std::optional<double> margin; ///< equivalence margin: differences up to this are the same, in the metric's unit
  /// What is asked of the arms by the main metric. Further metrics and interactions are asked for a difference.
  statistics::Question asked = statistics::Question::difference;
  statistics::Test test = statistics::Test::paired;
  std::optional<double> learned;     ///< [report] learned; empty: to be estimated
  double resolution = 0;             ///< values whose relative difference (to the larger) is at most this are equal
  std::filesystem::path out, folder; ///< the output folder, and the sweep's folder within it
  std::vector<std::int64_t> seeds;
  std::vector<std::size_t> looks; ///< planned numbers of seeds; empty: one look, at all finished seeds
  /// The options whose values define groups; empty: all arms are compared with the first.
  std::vector<PlannedOption> within;
  std::vector<ReportArm> arms;           ///< arms of a group are adjacent, each group's reference first
  std::vector<Interaction> interactions; ///< of crossed options, and of arms with groups
  std::vector<ReportMachine> machines;
  std::string data;                  ///< the task's fingerprint; the arms' fingerprints may differ
  std::string reference_config;      ///< resolved, as TOML
  std::optional<Frozen> frozen;      ///< when the plan was frozen; empty: not recorded
  std::vector<EarlierSweep> earlier; ///< earlier sweeps that share runs
  bool examples = false;             ///< [report] examples: also states intervals over other examples
  std::string match = "none";        ///< what arms are matched in: none | parameters | flops | state
  std::optional<Tuning> tuning;      ///< of a tuned sweep: each arm's trials, their results so far, and the choices
  std::optional<ReportVariation> variation; ///< only of a sweep with [sweep] vary
  std::optional<OverTasks> over;            ///< [report] over; also of `overall`
  /// The rows over all tasks, as a report whose arms have no runs: the reference first, then the arms that all tasks
  /// have. Null without [report] over, and if there is no such row.
  std::shared_ptr<const ReportData> overall;
  bool is_overall = false;          ///< this is the `overall` of a report
  std::optional<ReportTable> table; ///< empty: the runs are those of a plan

  std::size_t total() const; ///< number of planned runs, with those of the variation
  /// Number of seeds with no run to come, in any arm: all are finished, failed or excluded.
  std::size_t seeds_done() const;
  /// Number of seeds of the last planned look whose seeds are all done; 0: before the first look. Without looks, all
  /// seeds.
  std::size_t seeds_looked_at() const;
  /// The runs of an arm that the statistics use: those of the seeds looked at. Before the first look, all.
  std::span<const ReportRun> counted_runs(const ReportArm& arm) const;
  bool before_first_look() const { return !looks.empty() && seeds_looked_at() == 0; }
  std::size_t count(RunState state) const;
  std::size_t left_out() const; ///< excluded runs, whose folders cannot be trusted
  std::size_t gone() const;     ///< runs that had finished, but whose folders are missing now
  std::size_t no_row() const;   ///< runs that a table has no row for; they are in `left_out`, too
  bool asks_not_worse() const { return asked == statistics::Question::not_worse; }
  /// What runs are paired by, in words: "seed".
  std::string paired_by() const { return table && !table->paired_by.empty() ? table->paired_by : "seed"; }
  bool is_reference(const ReportArm& arm) const { return &arms[arm.reference] == &arm; }
  /// The metric of the curves: the metric, or METRIC of steps_to(METRIC, VALUE).
  const Metric& curve_metric() const { return evaluated ? *evaluated : metric; }
  std::string group_label(const ReportArm& arm) const; ///< "length = 64"; empty without groups
  /// What [report.label] calls the metric of this name; the name itself without a label.
  const std::string& shown_metric(const std::string& name) const;
};

/// The proportion of sweeps in which an arm's `smallest_found` would be found.
inline constexpr double found_share = 0.8;

/// Facts that follow from an arm's configuration and its data, not from its runs. The function may throw heed::Refused;
/// they are then missing.
struct ArmFacts {
  Task::Chance chance;
  std::string leakage = {};                             ///< as ReportArm::leakage
  std::map<std::int64_t, Task::Chance> at_lengths = {}; ///< as ReportArm::chance_at_lengths
  std::int64_t examples = 0;                            ///< as ReportArm::evaluated_examples
};
using FactsOf = std::function<ArmFacts(const Config&)>;

/// Whether an arm can be compared with its reference: both see their prediction targets, or neither does.
bool sees_alike(const ReportData& report, const ReportArm& arm);

/// Reads the runs that the plan names; writes nothing. An error of a run becomes its `problem`. A run whose folder
/// cannot be trusted (damaged, incomplete, edited, or from another version: read_entry) is excluded from all
/// statistics.
ReportData collect_report(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                          const FactsOf& facts_of);

/// Fills in the statistics of the runs' values: n, mean, spread, interquartile mean, time, and the comparison of arms
/// with their references.
///
/// With planned looks, answers use the last complete look: the first n_k seeds, at the level of this look
/// (`statistics::look_levels`). Later seeds are in no statistic. A result found by an earlier look is kept, with the
/// numbers of that look. Before the first look nothing is compared.
void compute_statistics(ReportData& report);

/// Calls `use(which, further)` for each further metric, with the report by this metric. Margin and threshold are
/// removed, because they are in another metric's unit. p is still corrected over all metrics together. The reports
/// share one copy without the values of further metrics, so that time and memory grow as the number of values does.
void each_further_metric(const ReportData& report, const std::function<void(std::size_t, const ReportData&)>& use);

} // namespace heed
