// What a report says, found from a sweep's plan and its runs' folders. Renderers (terminal, Markdown, ...) take this
// and nothing else, so that a further format is a further renderer.
#pragma once

#include "experiments/config/difference.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/report/attention_maps.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/paired.hpp"
#include "experiments/sweep/history.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// One point of a learning curve: the metric as evaluated after `step`.
struct CurvePoint {
  std::int64_t step = 0;
  double value = 0;
};

/// The metric over the rows of one length.
struct LengthPoint {
  std::int64_t length = 0;
  double value = 0;
};

/// One run of an arm. Of one that is left out nothing is known but who it is: no state counts it, nor does any number.
struct ReportRun {
  std::string id;
  std::int64_t seed = 0;
  RunState state = RunState::missing;
  bool left_out = false;                   ///< its folder can't be relied on (read_entry); `problem` says why
  bool gone = false;                       ///< it was finished once, and its folder is missing now
  std::optional<double> value;             ///< the metric's last evaluation; only of a finished run
  std::vector<std::optional<double>> also; ///< likewise of each of ReportData::also; none: not finite, or it has none
  std::vector<CurvePoint> curve;           ///< the curves' metric at every evaluation so far
  /// The last evaluation's metrics by the length of rows, in its order: val_accuracy_by_length, val_loss_at and so on;
  /// only of a finished run.
  std::map<std::string, std::vector<LengthPoint>, std::less<>> lengths;
  double seconds = 0;                      ///< of training
  std::string problem;                     ///< why it failed, or what is wrong with its folder; empty otherwise
  std::filesystem::path folder;            ///< which may not be there yet
  std::vector<AttentionExample> attention; ///< attention.json, where the run has one
  std::string attention_problem;           ///< why there are none, or not all that were asked for; empty otherwise

  /// Is it in no number, though it was run?
  bool lost() const { return left_out || gone || state == RunState::failed; }
  /// How it stands in a word or three: its state, "left out", "gone", or "not chosen yet" while its arm is being tuned.
  std::string_view standing() const {
    return left_out ? "left out" : gone ? "gone" : id.empty() ? "not chosen yet" : name_of(state);
  }
};

/// How many of an arm's seeds learned: those whose metric is at the threshold or better. A run that failed did not.
struct Learned {
  std::size_t seeds = 0, of = 0;
};

/// Of an arm and its reference, where outcomes fall into two heaps, or [report] learned says what learning is.
struct LearnedSeeds {
  double threshold = 0;
  bool found = true;     ///< between the two heaps; false: [report] learned
  bool is_least = false; ///< found, but on the wrong side of chance: the threshold is what guessing doesn't come to
  Learned arm, reference;
  double p = 1; ///< Fisher's exact test of the two shares, of this arm alone
};

/// An arm by one of the further metrics.
struct FurtherResult {
  std::size_t values = 0;
  std::optional<double> mean, standard_deviation;
  std::optional<statistics::Comparison> comparison = {};
  std::size_t look = 0; ///< as ReportArm::look
};

/// An arm with its runs in the order of the plan's seeds, and what follows from them.
struct ReportArm {
  std::string label;
  std::size_t reference = 0;      ///< the arm that it is compared with; itself, of a reference
  std::vector<std::string> group; ///< its values of ReportData::within
  std::string name;               ///< within its group; empty where there are no groups
  std::vector<PlannedChange> changes;
  std::vector<ReportRun> runs;
  std::optional<PlannedCost> cost;    ///< none: the plan doesn't say
  std::optional<Task::Chance> chance; ///< none where the data is not there any more
  std::string sight; ///< why its model sees what it is to predict; empty: it doesn't, or the data is not there any more
  std::size_t values = 0;                         ///< n: runs that have the metric
  std::optional<double> mean, standard_deviation; ///< of the metric over the seeds
  std::optional<double> interquartile_mean;       ///< likewise
  /// With its reference, over the seeds that both have; none for a reference, and where there is no such seed.
  std::optional<statistics::Comparison> comparison;
  std::vector<FurtherResult> also; ///< by each of ReportData::also
  /// Of planned looks, at how many seeds its answer was found, or else is open. 0: no looks, or none so far.
  std::size_t look = 0;
  /// Where it is undecided: the difference that so many seeds would have found in 80 of 100 sweeps, were the noise as
  /// it is here (`statistics::smallest_effect`). None elsewhere, and where there is no spread.
  std::optional<double> smallest_found;
  std::optional<LearnedSeeds> learned; ///< never of a reference; none where there is one heap, or nothing to compare
  /// p, and whether the arm is then the better one, where runs that failed count as the worst of all: of ranks. None
  /// where none failed, here or in the reference.
  std::optional<double> p_failed_worst;
  bool better_failed_worst = false;
  double seconds = 0; ///< of training, the mean over finished runs
  std::string config; ///< resolved, as TOML, of its first seed
  /// a: its reference's option, b: this arm's; of a group's reference from the first arm.
  std::vector<Difference> differences;
  std::optional<BudgetMatch> matched; ///< where arms are evened out
};

/// Whether what an option makes of the metric depends on another: `interactions_of`.
struct Interaction {
  std::string option;  ///< the arm that changes it alone: "score = additive"
  std::string with;    ///< "heads = 8", or a group, "length = 64"
  std::string without; ///< "by itself", or "with length = 16", the first group
  std::string group;   ///< in which two options are crossed; empty: there are none, or groups are what is crossed
  double effect_without = 0, effect_with = 0; ///< arm - reference, the means over the seeds that all four arms have
  statistics::Comparison comparison = {};     ///< of effect_with - effect_without
};
/// An arm's or its reference's runs that the arm's comparison is of: those of its look, or all.
inline std::span<const ReportRun> compared_runs(const ReportArm& arm, const ReportArm& whose) {
  const std::size_t all = whose.runs.size();
  return std::span(whose.runs).first(arm.look == 0 ? all : std::min(arm.look, all));
}

/// Where and with what runs were made: manifests that agree are one.
struct ReportMachine {
  std::string description; ///< "heed 0.1.0, gcc 12.2.0 ..., on CPU"
  std::size_t runs = 0;
};

struct ReportData {
  std::string name, hash;
  std::string question; ///< what the sweep is to find out, in words; may be empty
  bool sweep = false;
  Metric metric;
  std::optional<Metric> evaluated; ///< METRIC, where the metric is steps_to(METRIC, VALUE)
  std::vector<Metric> also;        ///< further metrics, one family of comparisons with it
  std::optional<double> margin;    ///< differences up to this are the same, in the metric's unit
  statistics::Test test = statistics::Test::paired;
  std::optional<double> learned;     ///< [report] learned; none: to be found
  double resolution = 0;             ///< values that differ by no more than this share of the larger are equal
  std::filesystem::path out, folder; ///< the output folder, and the sweep's within it
  std::vector<std::int64_t> seeds;
  std::vector<std::size_t> looks;    ///< planned numbers of seeds; none: there is one look, at all that has finished
  std::vector<PlannedOption> within; ///< whose values make groups of arms; none: all are compared with the first
  std::vector<ReportArm> arms;       ///< groups by value, together, each with its reference first
  std::vector<Interaction> interactions; ///< of options that are crossed, and of arms with groups
  std::vector<ReportMachine> machines;
  std::string data;                  ///< the task's fingerprint; the arms' may differ
  std::string reference_config;      ///< resolved, as TOML
  std::optional<Frozen> frozen;      ///< when the plan was fixed; none: it doesn't say
  std::vector<EarlierSweep> earlier; ///< that were planned before, and share runs
  std::string match = "none";        ///< what the feed-forward's width evens out: none | parameters | flops
  std::optional<Tuning> tuning;      ///< of a tuned sweep: what each arm tried and chose, with what it came to so far

  std::size_t total() const; ///< runs planned
  /// Seeds of which no run is still to come, in any arm: finished, failed or left out.
  std::size_t seeds_done() const;
  /// Of the last planned look of which all seeds are done; 0: before the first. Without looks, all seeds.
  std::size_t seeds_looked_at() const;
  /// The runs of an arm that numbers are of: those of the seeds looked at. Before the first look, all.
  std::span<const ReportRun> counted_runs(const ReportArm& arm) const;
  bool before_first_look() const { return !looks.empty() && seeds_looked_at() == 0; }
  std::size_t count(RunState state) const;
  std::size_t left_out() const; ///< runs whose folders can't be relied on
  std::size_t gone() const;     ///< runs that were finished, and whose folders are missing now
  bool is_reference(const ReportArm& arm) const { return &arms[arm.reference] == &arm; }
  /// What curves are of: the metric, or that which steps_to(METRIC, VALUE) names.
  const Metric& curve_metric() const { return evaluated ? *evaluated : metric; }
  std::string group_label(const ReportArm& arm) const; ///< "length = 64"; empty where there are no groups
};

/// In how many of 100 sweeps an arm's `smallest_found` would have been found.
inline constexpr double found_share = 0.8;

/// What an arm's configuration and its data say beside its runs; may throw heed::Refused, which leaves it out.
struct ArmFacts {
  Task::Chance chance;
  std::string sight = {}; ///< as ReportArm::sight
};
using FactsOf = std::function<ArmFacts(const Config&)>;

/// Whether an arm's runs may be compared with its reference's: both see what they are to predict, or neither does.
bool sees_alike(const ReportData& report, const ReportArm& arm);

/// Reads the runs that the plan names. What is wrong with a run becomes its `problem`, and one whose folder can't be
/// relied on (damaged, half-written, edited, from another version: read_entry) is left out of all numbers. Reads only.
ReportData collect_report(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                          const FactsOf& facts_of);

/// Fills in what follows from the runs' values: n, mean, spread, interquartile mean, time, and the comparison of arms
/// with their references.
///
/// Where looks are planned, answers are of the last whole one: of the first n_k seeds, at the level that this look may
/// spend (`statistics::look_levels`); later seeds are in no number. What an earlier look found stays, with that look's
/// numbers. Before the first look nothing is compared.
void compute_statistics(ReportData& report);

/// The report as it would be by its further metric `which`, without margin and threshold, whose unit is another's; what
/// p is corrected over stays all metrics together.
ReportData by_further_metric(const ReportData& report, std::size_t which);

} // namespace heed
