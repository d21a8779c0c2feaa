// The two stages of a tuned sweep: first each arm's trials, then, from their results alone, its choice and with it its
// replicates. Choices are kept in FOLDER/tuned.json beside the plan once all are made, so that a sweep that is stopped
// goes on with them.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace heed {

/// Fills in what the trials have come to so far: `value`, the mean of the metric's last evaluations over the tuning's
/// seeds; or `problem`, where a run failed or has no such metric. An arm chooses once all its trials' runs are finished
/// or failed: the best value by the metric's direction, of equal ones the first in the grid. Reads run folders only;
/// arms that have chosen stay as they are.
void look_at_trials(Plan& plan, const std::filesystem::path& out);

/// Keeps the choices in FOLDER/tuned.json and puts them into the plan's runs; where another process has kept its own
/// meanwhile, those. One process does so at a time (FOLDER/claim). False, with nothing kept, where a trial is not
/// finished or failed (it may run elsewhere), and where `give_up` ended the wait for that.
/// Throws heed::Failed for an arm none of whose trials can be chosen.
bool settle(
    Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
    const std::function<bool()>& give_up = [] { return false; });

/// Puts the choices of FOLDER/tuned.json into the plan, where there is one. Throws heed::Refused: which file, what is
/// wrong, and how to mend it.
void read_choices(Plan& plan, const std::filesystem::path& folder);

/// The trial that each of Tuning::runs belongs to.
std::vector<const Trial*> trials_by_run(const Tuning& tuning);

/// "learning_rate = 0.003", for a line where it is clear that these are options.
std::string short_words(const Trial& trial);

/// Whether a tuned number is the least or the greatest that was tried, of at least two: then a value beyond may be
/// better still.
bool on_edge(const TunedOption& option, const std::string& value);

/// "tried learning_rate = 0.001 (1.93), 0.003 (1.85), 0.01 (failed: ...); chose 0.003", and, where it is so, that the
/// choice lies on the grid's edge. Of an arm that has not chosen: how many of its trials are done.
std::string tuning_in_words(const Tuning& tuning, std::size_t arm);

} // namespace heed
