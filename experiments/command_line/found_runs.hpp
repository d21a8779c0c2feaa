// Runs as commands find them in an output folder: through its index, with what is left out named.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/index/run_index.hpp"

#include <boost/json/value.hpp>
#include <string>

namespace heed {

/// Says on the console which folders are left out, those of one reason together, and why the index is in memory where
/// it is.
void say_left_out(const std::vector<LeftOut>& left_out, const RunIndex& index, Console& console);

/// A cell as JSON: true and false where the field is one of these, null where there is none.
boost::json::value as_json(const Cell& cell, const IndexField& field);
/// A cell with all its digits; empty where there is none.
std::string as_csv(const Cell& cell, const IndexField& field);
/// A cell for people, with six digits; "-" where there is none.
std::string for_people(const Cell& cell, const IndexField& field);

} // namespace heed
