// Tuning in a sweep, in two stages: each arm first runs its trials; then it chooses a trial by the trials' results, and
// the choice determines its replicates. Once all arms have chosen, the choices are saved in FOLDER/tuned.json next to
// the plan, and a stopped sweep resumes with them.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace heed {

/// Fills in the trials' results so far: `value`, the mean over the tuning seeds of the metric's last evaluation; or
/// `problem`, if a run failed or does not have the metric, or has ended in a folder that cannot be trusted (read_entry;
/// `is_damaged`). An arm chooses once all its trials are done: the best value by the metric's direction, and the
/// first in the grid among equal values. Only reads run folders. Does not change arms that have chosen.
void look_at_trials(Plan& plan, const std::filesystem::path& out);

/// Saves the choices in FOLDER/tuned.json and enters them into the plan's runs. If another process has saved its
/// choices in the meantime, uses that process's choices. Only one process saves at a time (FOLDER/claim). Returns false
/// without saving if a trial has neither finished nor failed (it may be running elsewhere), or if `give_up` ended the
/// wait for the other process.
/// Throws heed::Failed for an arm with no usable trial. A choice is never changed later, so it is not made without all
/// trials: throws heed::Failed also for a damaged trial.
bool settle(
    Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
    const std::function<bool()>& give_up = [] { return false; });

/// Enters the choices of FOLDER/tuned.json into the plan, if the file exists. Throws heed::Refused with the file, the
/// error, and how to repair it.
void read_choices(Plan& plan, const std::filesystem::path& folder);

/// Whether the trial has a value, or a problem that stays.
bool is_done(const Trial& trial);

/// Calls `use` with each run of the tuning and the trial that it belongs to, then with each replicate and null.
void each_run(const Plan& plan, const std::function<void(const PlannedRun&, const Trial*)>& use);

/// "learning_rate = 0.003": short option names, for a line whose context shows that they are options.
std::string short_words(const Trial& trial);

/// Whether a tuned number is the smallest or the largest of at least two tried values. A value beyond it may then be
/// better.
bool on_edge(const TunedOption& option, const std::string& value);

/// "tried learning_rate = 0.001 (1.93), 0.003 (1.85), 0.01 (failed: ...); chose 0.003", with a remark if the choice
/// lies on the grid's edge. For an arm that has not chosen: how many of its trials are done.
std::string tuning_in_words(const Tuning& tuning, std::size_t arm);

} // namespace heed
