// A sweep's plan: which runs answer the question of a configuration file. It is made before anything runs, and frozen
// in OUT/sweeps/NAME-HASH/plan.json, so that editing the file changes nothing of what is under way.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/system/output_file.hpp"
#include "experiments/training/training.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// An option that an arm has otherwise than the reference.
struct PlannedChange {
  std::string key;   ///< "attention.score"
  std::string value; ///< as people read it: additive, 0.5, [1, 2]
  bool operator==(const PlannedChange&) const = default;
};

/// An option with its name in labels.
struct PlannedOption {
  std::string key;  ///< "task.copy.length"
  std::string name; ///< "length"
  bool operator==(const PlannedOption&) const = default;
};

/// What evening out did to an arm: the feed-forward's width, and what the arm then comes to beside the reference.
struct BudgetMatch {
  std::int64_t width = 0;        ///< block.ffn_width
  double amount = 0, target = 0; ///< parameters, or FLOPs a step
  /// How far off: 0.012 is 1.2 % above the reference.
  double excess() const { return amount / target - 1; }
  bool operator==(const BudgetMatch&) const = default;
};
/// What is within this share of the target counts as even.
inline constexpr double even_enough = 0.01;

/// What a run costs: found out by a short probe when the plan was made, so that reports need not.
struct PlannedCost {
  std::int64_t parameters = 0;
  double flops_per_step = 0;
  double bytes = 0; ///< peak memory of a process that trains with one thread
};

/// What is compared: one configuration, run once for each seed. Arm 0 is the reference, the file without its [sweep].
/// [sweep] within makes groups of arms, each with a reference: the file with the group's values of these options.
struct Arm {
  std::string label; ///< short and unique: "reference", "score = additive", "length = 64: score = additive"
  std::vector<PlannedChange> changes;
  std::vector<std::size_t> runs;      ///< indices into Plan::runs, in the order of the seeds
  std::optional<BudgetMatch> matched; ///< where [sweep] match evens arms out; never of a reference
  std::optional<PlannedCost> cost;    ///< none: not known, or of a tuned arm, whose trials have it
  std::size_t reference = 0;          ///< the arm that it is compared with; itself, of a reference
  std::vector<std::string> group;     ///< its values of Plan::within, as people read them
  std::string name;                   ///< what it is called within its group; empty where there are no groups
};

struct PlannedRun {
  std::string id; ///< empty: not known before the arm's tuning is done
  std::size_t arm = 0;
  std::int64_t seed = 0;
  std::string config; ///< resolved, as TOML
};

/// An option that is tuned.
struct TunedOption {
  std::string key;
  std::vector<std::string> values; ///< as people read them, in the file's order
  bool ordered = false;            ///< numbers, so that the least and the greatest are the grid's edge
};

/// One point of the grid, tried by one arm.
struct Trial {
  std::vector<PlannedChange> point;
  std::vector<std::size_t> runs;      ///< indices into Tuning::runs, in the order of the tuning's seeds
  std::vector<PlannedRun> replicates; ///< what the arm runs if this is chosen, in the order of the plan's seeds
  std::optional<PlannedCost> cost;    ///< none: not known
  std::optional<double> value;        ///< the metric's mean over the tuning's seeds; none: not known, or not usable
  std::string problem;                ///< why it can't be chosen; empty otherwise
};

struct ArmTuning {
  std::vector<Trial> trials;         ///< in the grid's order, the same for every arm
  std::optional<std::size_t> chosen; ///< of the trials; none: not done yet
};

/// Each arm's choice among the points of a grid ([sweep.tune]), made with seeds that no replicate uses.
struct Tuning {
  std::vector<std::int64_t> seeds;
  std::vector<TunedOption> options;
  std::vector<PlannedRun> runs; ///< by seed, then by arm, then by trial
  std::vector<ArmTuning> arms;  ///< as Plan::arms
  bool settled() const;         ///< every arm has chosen
};

/// When a plan was frozen, and what its runs had come to by then: whether what it asks was fixed before the answers.
struct Frozen {
  std::string at;           ///< UTC, "2026-11-22T10:15:00Z"
  std::size_t finished = 0; ///< of its runs, its trials among them
  std::size_t runs = 0;     ///< how many that are
  std::string kernels = {}; ///< that all machines compute its runs with, those that have them; empty: it has none
};

struct Plan {
  std::string name;              ///< the configuration's, or its file's; never empty
  std::string hash;              ///< `hash_of` it: an edited file that comes to other runs is a new sweep
  std::string metric;            ///< what decides
  std::vector<std::string> also; ///< further metrics, one family of comparisons with it
  std::string match = "none";    ///< none | parameters | flops
  std::optional<double> margin;  ///< differences up to this are the same, in the metric's unit
  std::string test = "paired";   ///< paired | unpaired
  std::optional<double> learned; ///< the metric's value from which on a seed has learned; none: to be found
  std::string question;          ///< what is asked, for people
  bool sweep = false;            ///< the file has a [sweep]
  std::vector<std::int64_t> seeds;
  std::vector<std::size_t> looks;    ///< numbers of seeds at which answers are looked at; none: of all seeds alone
  std::vector<PlannedOption> within; ///< whose values make the groups; arms of a group stand together
  std::vector<Arm> arms;
  /// By seed, then by arm: a sweep that is stopped has whole seeds to compare. Of an arm that has still to be tuned
  /// they have no ID, and the configuration of its first trial.
  std::vector<PlannedRun> runs;
  std::optional<Tuning> tuning;   ///< where the file has a [sweep.tune]
  std::optional<Frozen> frozen;   ///< none: not frozen yet, or by an earlier version, which didn't say
  std::vector<std::string> notes; ///< of making it, for people: what matched nothing; not in its file

  std::string folder_name() const; ///< NAME-HASH, safe as the name of a folder
};

/// A configuration's data: `make_task(config)->fingerprint()`. Called once for each different [data] and [task].
using Fingerprint = std::function<std::string(const Config&)>;

/// What a configuration costs: `engine(config).cost(config, task)`. Asked for only where arms are evened out.
using CostOf = std::function<Cost(const Config&)>;

/// The configurations of a plan's runs, resolved: of each arm one, with the first seed; of a tuned plan one for each
/// trial of the arm.
using ResolvedArms = std::vector<std::vector<Config>>;

/// Expands a configuration's [sweep]. Blocks add up; arms whose runs are equal are one. Throws heed::Refused, with the
/// place in the file, for what can't be combined, for looks that can't find anything, for a block that leaves out everything, for an arm that can't be
/// evened out, for a group without a reference, and where tuning would share a seed or an option with what is compared.
/// @param fallback_name  where the configuration has no `name`: the file's
/// @param resolved       is filled where given: what `config_of` would read from the plan's texts
Plan make_plan(const Settings& settings, const Fingerprint& fingerprint, const std::string& fallback_name,
               const CostOf& cost_of = {}, ResolvedArms* resolved = nullptr);

/// Fills in `runs` from what the arms have chosen so far. Of a plan without tuning nothing changes.
void apply_choices(Plan& plan);

/// The IDs of all runs that the plan has or may have, each once, sorted: of a tuned sweep also the trials', and what each
/// trial would be followed by.
std::vector<std::string> run_ids(const Plan& plan);

/// What a run of the arm costs, after its tuning where it is tuned; none: not known.
std::optional<PlannedCost> planned_cost(const Plan& plan, std::size_t arm);

/// 12 hexadecimal digits of the metrics, margin, test, threshold, question, match, groups, seeds and looks, arms and runs;
/// of a tuned sweep, of all that is tried and may be run, so that it is the same before and after the choice.
std::string hash_of(const Plan& plan);

/// The run's configuration. Throws heed::Refused where this version does not understand it.
Config config_of(const PlannedRun& run);

std::string to_json(const Plan& plan);
/// The error says what is wrong and where; it does not name the file.
Parsed<Plan> plan_from_json(std::string_view bytes);

/// OUT/sweeps/NAME-HASH: writes its plan.json with the time and how many of its runs OUT has finished, or marks it as the
/// latest where it is there already, with the kernels that it then had.
/// @param kernels  that its runs are to be computed with (engines/kernels.hpp); empty: with what each machine has
/// Throws heed::Failed.
std::filesystem::path freeze(const Plan& plan, const std::filesystem::path& out, const std::string& kernels = {});
/// A file in a sweep's folder, OUT/sweeps/NAME-HASH.
OutputFile file_of_sweep(const std::filesystem::path& folder, const std::string& name);
/// Whether OUT has a plan of this name and hash.
bool is_frozen(const Plan& plan, const std::filesystem::path& out);
/// Reads FOLDER/plan.json, and what the arms have chosen from FOLDER/tuned.json, if it is there. Throws heed::Refused:
/// which file, what is wrong, and how to mend it.
Plan load_plan(const std::filesystem::path& folder);

/// Folders of the sweeps in an output folder, the latest first.
std::vector<std::filesystem::path> sweep_folders(const std::filesystem::path& out);
/// The latest sweep, or the one called `name`: a folder's name or a unique beginning of it, the latest of those with
/// that NAME, or a path. Throws heed::Refused.
std::filesystem::path find_sweep(const std::filesystem::path& out, const std::optional<std::string>& name);

} // namespace heed
