// A sweep's plan: the arms and runs that a configuration file asks for. The plan is made before any run starts and
// frozen in OUT/sweeps/NAME-HASH/plan.json. Later edits of the file do not affect the sweep.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/system/output_file.hpp"
#include "experiments/training/training.hpp"

#include <boost/describe/class.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// An option whose value differs between an arm and the reference.
struct PlannedChange {
  std::string key;   ///< "attention.score"
  std::string value; ///< as readable text: additive, 0.5, [1, 2]
  bool operator==(const PlannedChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlannedChange, (), (key, value))

/// "attention.score = dot, model.heads = 8".
std::string in_words(const std::vector<PlannedChange>& changes, std::string_view between = ", ");

/// An option with its name in labels.
struct PlannedOption {
  std::string key;  ///< "task.copy.length"
  std::string name; ///< "length"
  bool operator==(const PlannedOption&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlannedOption, (), (key, name))

/// The result of matching an arm to the reference's budget: the width, and the matched quantity of the arm and of the
/// reference.
struct BudgetMatch {
  std::int64_t width = 0;        ///< of `matched_option` (sweep/matching.hpp)
  double amount = 0, target = 0; ///< parameters, FLOPs per step, or numbers of the state
  /// Relative deviation: 0.012 is 1.2 % above the reference.
  double excess() const { return amount / target - 1; }
  bool operator==(const BudgetMatch&) const = default;
};
BOOST_DESCRIBE_STRUCT(BudgetMatch, (), (width, amount, target))
/// Relative deviations up to this count as matched.
inline constexpr double matched_enough = 0.01;

/// What a run costs. A short probe measures it when the plan is made, so reports need not.
struct PlannedCost {
  std::int64_t parameters = 0;
  double flops_per_step = 0;
  double bytes = 0; ///< peak memory of a training process with one thread
  /// As Cost::state_size; also empty in plans of versions that did not count it.
  std::optional<std::int64_t> state_size{};
};

/// An arm of the comparison: one configuration, run once for each seed. Arm 0 is the reference: the file without its
/// [sweep]. With [sweep] within, arms form groups, each with its own reference: the file with the group's values.
struct Arm {
  std::string label; ///< short and unique: "reference", "score = additive", "length = 64: score = additive"
  std::vector<PlannedChange> changes;
  std::vector<std::size_t> runs;      ///< indices into Plan::runs, in the order of the seeds
  std::optional<BudgetMatch> matched; ///< only with [sweep] match; never of a reference
  std::optional<PlannedCost> cost;    ///< empty: unknown, or a tuned arm (its trials have the cost)
  std::size_t reference = 0;          ///< index of the arm that it is compared with; a reference has its own index
  std::vector<std::string> group;     ///< its values of Plan::within, as readable text
  std::string name;                   ///< its name within its group; empty without groups
};

struct PlannedRun {
  std::string id; ///< empty: unknown until the arm's tuning is done
  std::size_t arm = 0;
  std::int64_t seed = 0;
  std::string config; ///< resolved, as TOML
};

/// An option that is tuned.
struct TunedOption {
  std::string key;
  std::vector<std::string> values; ///< as readable text, in the file's order
  bool ordered = false; ///< the values are numbers, so the smallest and the largest are the edges of the grid
};
BOOST_DESCRIBE_STRUCT(TunedOption, (), (key, ordered, values))

/// One point of the grid, tried by one arm.
struct Trial {
  std::vector<PlannedChange> point;
  std::vector<std::size_t> runs;      ///< indices into Tuning::runs, in the order of the tuning's seeds
  std::vector<PlannedRun> replicates; ///< the arm's runs if this trial is chosen, in the order of the plan's seeds
  std::optional<PlannedCost> cost;    ///< empty: unknown
  std::optional<double> value;        ///< the metric's mean over the tuning seeds; empty: unknown or not usable
  std::string problem;                ///< why it cannot be chosen; empty otherwise
  bool is_damaged = false;            ///< by `problem`, a run's folder cannot be trusted: the arm cannot choose yet
};

struct ArmTuning {
  std::vector<Trial> trials;         ///< in the grid's order, the same for every arm
  std::optional<std::size_t> chosen; ///< index of the chosen trial; empty: not chosen yet
};

/// Each arm's choice among the points of a grid ([sweep.tune]). The tuning seeds differ from the seeds of all
/// replicates.
struct Tuning {
  std::vector<std::int64_t> seeds;
  std::vector<TunedOption> options;
  std::vector<PlannedRun> runs; ///< by seed, then by arm, then by trial
  std::vector<ArmTuning> arms;  ///< in the order of Plan::arms
  bool settled() const;         ///< every arm has chosen
};

/// Runs that measure where variance comes from ([sweep] vary). In each fixing, all sources of chance have a value; then
/// one source after the other gets further values, while the others keep theirs. All runs are of the first arm.
struct Variation {
  /// The IDs of a fixing's runs.
  struct Fixing {
    std::string base;                             ///< all sources have the fixing's values
    std::vector<std::vector<std::string>> varied; ///< for each source, its further values
    bool operator==(const Fixing&) const = default;
  };
  std::vector<std::string> sources; ///< names of `chance_sources()`
  std::size_t values = 0;           ///< of each source in each fixing, with the fixing's own
  std::vector<Fixing> fixings;
  /// Those that are not among Plan::runs, by fixing.
  std::vector<PlannedRun> runs;
  std::vector<std::string> labels; ///< what each of `runs` has: "fixing 1, init 10001"
};

/// When a plan was frozen, and how many of its runs had finished by then. It shows whether the plan was fixed before
/// its results were known.
struct Frozen {
  std::string at;           ///< UTC, "2026-11-22T10:15:00Z"
  std::size_t finished = 0; ///< number of its finished runs, including trials
  std::size_t runs = 0;     ///< number of its runs, including trials
  /// The instruction set that all machines use for its runs, if they support it; empty: not fixed.
  std::string kernels = {};
};

struct Plan {
  std::string name;              ///< the configuration's name, or the file's; never empty
  std::string hash;              ///< `hash_of` the plan: an edited file with different runs is a new sweep
  std::string metric;            ///< the main metric
  std::vector<std::string> also; ///< further metrics; they form one family of comparisons with the main metric
  std::string match = "none";    ///< none | parameters | flops | state
  std::string reference_name;    ///< what reports call the reference; empty: by the options that arms change
  std::optional<double> margin;  ///< equivalence margin: differences up to this are the same, in the metric's unit
  std::string answer = "same";   ///< same | not worse: what the margin is for
  std::string test = "paired";   ///< paired | unpaired
  std::string over = "none";     ///< none | these tasks | tasks like these: one answer over all groups
  std::string scale = "metric";  ///< with `over`: metric | chance to best | a number for each group: "0.2, 1.5"
  std::optional<double> learned; ///< a seed whose metric reaches this value has learned; empty: to be estimated
  std::string question;          ///< the question of the sweep, for readers
  bool examples = false;         ///< reports state differences over other examples, too; not part of the plan's hash
  /// What reports call metrics and arms, by their names; not part of the plan's hash.
  std::map<std::string, std::string> labels;
  bool sweep = false; ///< the file has a [sweep]
  std::vector<std::int64_t> seeds;
  std::vector<std::size_t> looks;    ///< numbers of seeds of the interim looks; empty: one look, at all seeds
  std::vector<PlannedOption> within; ///< the options whose values define groups; arms of a group are adjacent
  std::vector<Arm> arms;
  /// By seed, then by arm: a sweep that is stopped early has complete seeds to compare. Replicates of an arm that is
  /// not tuned yet have no ID, and the configuration of its first trial.
  std::vector<PlannedRun> runs;
  std::optional<Tuning> tuning;       ///< only if the file has a [sweep.tune]
  std::optional<Variation> variation; ///< only if [sweep] has vary
  std::optional<Frozen> frozen;       ///< empty: not frozen yet
  /// Messages for the user from making the plan, such as entries that match nothing; not saved in the file.
  std::vector<std::string> notes;

  bool asks_not_worse() const { return answer != "same"; }
  bool answers_over_tasks() const { return over != "none"; }
  std::string folder_name() const; ///< NAME-HASH, safe as a folder name
};

/// The fingerprint of a configuration's data: `make_task(config)->fingerprint()`. Called once for each different [data]
/// and [task].
using Fingerprint = std::function<std::string(const Config&)>;

/// What a configuration costs: `engine(config).cost(config, task)`. Called only if arms are matched.
using CostOf = std::function<Cost(const Config&)>;

/// The resolved configurations of a plan's runs: for each arm one, with the first seed; for a tuned arm one for each
/// trial.
using ResolvedArms = std::vector<std::vector<Config>>;

/// Expands a configuration's [sweep]. The arms of all blocks are collected; arms with equal runs are merged. Throws
/// heed::Refused with the place in the file for settings that cannot be combined, looks that cannot find anything, a
/// block that excludes every combination, an arm that cannot be matched, a group without a reference, and tuning that
/// shares a seed or an option with the comparison.
/// @param fallback_name  the file's name, used if the configuration has no `name`
/// @param resolved       if given, receives the configurations that `config_of` would read from the plan's texts
Plan make_plan(const Settings& settings, const Fingerprint& fingerprint, const std::string& fallback_name,
               const CostOf& cost_of = {}, ResolvedArms* resolved = nullptr);

/// Fills in `runs` from the arms' choices so far. Does not change a plan without tuning.
void apply_choices(Plan& plan);

/// The runs after the tuning, in the order in which they start: the replicates, then those that measure variance.
std::vector<PlannedRun> final_runs(const Plan& plan);
std::size_t count_final_runs(const Plan& plan);

/// The IDs of all runs that the plan has or may have, each once, sorted. For a tuned sweep they include the trials, and
/// the replicates that each trial could have.
std::vector<std::string> run_ids(const Plan& plan);

/// What a run of the arm costs; for a tuned arm, the cost of its chosen trial, or of its first trial before the choice.
/// Empty: unknown.
std::optional<PlannedCost> planned_cost(const Plan& plan, std::size_t arm);

/// A hash of 12 hexadecimal digits, of the metrics, margin, answer, test, over, threshold, question, match, groups,
/// seeds, looks, arms, runs and variation. For a tuned sweep it covers all trials and all possible runs, so it does not
/// change with the choices.
std::string hash_of(const Plan& plan);

/// The run's configuration. Throws heed::Refused if this version does not understand it.
Config config_of(const PlannedRun& run);

std::string to_json(const Plan& plan);
/// The error says what is wrong and where; it does not contain the file's name.
Parsed<Plan> plan_from_json(std::string_view bytes);

/// Writes plan.json in OUT/sweeps/NAME-HASH, with the time and the number of runs that OUT has already finished. If a
/// readable plan.json exists already, keeps its time, counts and instruction set (`kernels` if none is recorded), and
/// marks it as the latest sweep. A damaged one is set aside. Returns the folder.
/// @param kernels  the instruction set for its runs (engines/instruction_sets.hpp); empty: each machine uses its own
/// Throws heed::Failed.
std::filesystem::path freeze(const Plan& plan, const std::filesystem::path& out, const std::string& kernels = {});
/// A file in a sweep's folder, OUT/sweeps/NAME-HASH.
OutputFile file_of_sweep(const std::filesystem::path& folder, const std::string& name);
/// Whether OUT contains a plan of this name and hash.
bool is_frozen(const Plan& plan, const std::filesystem::path& out);
/// Reads FOLDER/plan.json, and the arms' choices from FOLDER/tuned.json if it exists. Throws heed::Refused with the
/// file, the error, and how to repair it.
Plan load_plan(const std::filesystem::path& folder);

/// A sweep's name as the first part of its folder's name: "pre-or-post" for "pre or post".
std::string sweep_slug(std::string_view name);
/// Whether the sweep in a folder NAME-HASH has this name, written as NAME or as in its configuration. If the plan is
/// damaged, every name whose slug is NAME is taken.
bool has_name(const std::filesystem::path& folder, const std::string& name);

/// Folders of the sweeps in an output folder, the most recent first.
std::vector<std::filesystem::path> sweep_folders(const std::filesystem::path& out);
/// The most recent sweep, or the sweep called `name`: a folder's name or a unique prefix of it, a sweep's name as
/// `has_name` takes it (the most recent one with it), or a path. Throws heed::Refused.
std::filesystem::path find_sweep(const std::filesystem::path& out, const std::optional<std::string>& name);

} // namespace heed
