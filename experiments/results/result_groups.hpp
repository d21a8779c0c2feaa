// The arms of a table of results, in groups, with the reference first.
#pragma once

#include "experiments/results/result_runs.hpp"
#include "experiments/results/result_table.hpp"

#include <map>
#include <string>
#include <vector>

namespace heed {

/// The runs of a group, by arm; arms are in the order of the report.
struct ResultGroup {
  std::vector<std::string> values;
  std::vector<std::string> arms;
  std::map<std::string, std::vector<const ResultRun*>> runs;
};

/// "dataset = mnist, width = 64"; empty without groups.
std::string group_in_words(const ResultRuns& runs, const std::vector<std::string>& values);

/// The groups in the order of the report; without groups, one of all arms. Throws heed::Refused for a single arm, a
/// reference that is not there or is not known, and too many arms.
std::vector<ResultGroup> groups_of(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs);

} // namespace heed
