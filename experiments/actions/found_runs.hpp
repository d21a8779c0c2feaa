// Finds runs through the index of an output folder, for commands that list runs: messages about excluded folders, and
// cells as text.
#pragma once

#include "experiments/actions/requests.hpp"
#include "experiments/index/run_index.hpp"

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Sentences about the excluded folders, grouped by reason, and about an index that is only in memory.
std::vector<std::string> left_out_in_words(const std::vector<LeftOut>& left_out, const RunIndex& index);

/// Reads the arms of all runs in the output folder and passes their labels to the index. `problem` receives a sentence
/// for each unreadable plan.
void add_arms(RunIndex& index, const std::filesystem::path& out,
              const std::function<void(const std::string&)>& problem);

/// Whether a filter or the name of a field may name the field `arm`. If not, the plans need not be read.
bool may_name_arm(std::string_view text);

/// Which runs to find, in which order, with which columns. The fields have the names of the options of `heed runs`.
struct RunsRequest {
  std::optional<std::string> where;
  std::string sort;                 ///< empty: by start time
  std::vector<std::string> columns; ///< empty: the usual ones
  std::optional<std::int64_t> limit;
  bool reverse = false;
  /// What the usual columns are. False: the options in which the runs differ, and their results. True: every field with
  /// a value.
  bool all_fields = false;

  OptionNames option = {};
};

/// The selected runs.
struct FoundRuns {
  std::vector<IndexField> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<LeftOut> left_out;
  std::size_t all = 0; ///< number of runs in the index
};

/// The runs of the output folder `out` that match. Throws heed::Refused for a wrong filter or field. The result does
/// not use the index, so the caller can destroy it before it prints, because printing can block for as long as a user
/// reads.
FoundRuns find_runs(RunIndex& index, const std::filesystem::path& out, const RunsRequest& question,
                    const std::function<void(const std::string&)>& problem);

/// A cell as JSON: true or false for a Boolean field, null for an empty cell.
boost::json::value as_json(const Cell& cell, const IndexField& field);
/// A cell with all its digits; an empty cell gives an empty text.
std::string as_csv(const Cell& cell, const IndexField& field);
/// A cell for display, with six digits; "-" if empty.
std::string for_people(const Cell& cell, const IndexField& field);

} // namespace heed
