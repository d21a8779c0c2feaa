// Helper functions for commands that list runs through the index of an output folder: messages about excluded folders,
// and cells as text.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/index/run_index.hpp"

#include <boost/json/value.hpp>
#include <filesystem>
#include <string>
#include <string_view>

namespace heed {

/// Prints the excluded folders on the console, grouped by reason, and the reason if the index is only in memory.
void say_left_out(const std::vector<LeftOut>& left_out, const RunIndex& index, Console& console);

/// Reads the arms of all runs in the output folder and passes their labels to the index. Prints which plans are
/// unreadable.
void add_arms(RunIndex& index, const std::filesystem::path& out, Console& console);

/// Whether a filter or the name of a field may name the field `arm`. If not, the plans need not be read.
bool may_name_arm(std::string_view text);

/// A cell as JSON: true or false for a Boolean field, null for an empty cell.
boost::json::value as_json(const Cell& cell, const IndexField& field);
/// A cell with all its digits; an empty cell gives an empty text.
std::string as_csv(const Cell& cell, const IndexField& field);
/// A cell for display, with six digits; "-" if empty.
std::string for_people(const Cell& cell, const IndexField& field);

} // namespace heed
