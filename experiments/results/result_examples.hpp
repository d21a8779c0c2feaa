// Tables with a row for each example of a run: the values of its examples, and their mean as the run's value.
#pragma once

#include "experiments/results/result_runs.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heed {

/// Numbers the examples of a table in the order in which they first appear. Until `collapse`, ResultValue::step is the
/// number of the value's example.
class ExampleNumbers {
public:
  /// Throws heed::Refused for an empty cell.
  std::int64_t of(const ResultTable& table, const ResultRow& row, std::size_t column);

  /// Replaces each run's values by their mean over examples, which keeps the values of the first metric as
  /// ResultRun::examples. Throws heed::Refused, with the place, for an example that a run has twice, for one that a run
  /// lacks and another has, and for fewer examples than an interval over other examples needs.
  void collapse(ResultRuns& runs, const ResultTable& table, const ResultRequest& question) const;

private:
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::vector<std::string> names_;
};

} // namespace heed
