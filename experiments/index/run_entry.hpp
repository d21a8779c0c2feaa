// Reads the data of a run that the index stores: state, manifest, options and summary of each metric.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/index/database.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/runs/run_state.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Summary of one metric over a run's lines.
struct MetricEntry {
  std::string name;
  double last = 0;                       ///< the last value; NaN if it was not finite
  std::int64_t step = 0;                 ///< the step of the last value
  std::optional<double> best;            ///< only for metrics with a better direction (metrics_of)
  std::optional<std::int64_t> best_step; ///< the first step with the best value
};

struct RunEntry {
  std::string id;
  RunState state = RunState::missing;
  std::optional<Manifest> manifest; ///< none if nothing was executed yet
  /// number of trained values, read from a checkpoint; none without a checkpoint
  std::optional<std::int64_t> parameters;
  std::vector<std::pair<std::string, Cell>> options; ///< options that have an effect, with names of `flatten`
  std::vector<MetricEntry> metrics;

  /// Null if the run has no such metric.
  const MetricEntry* metric(std::string_view name) const;
};

/// Reads a run's folder. The error says why the folder can't be relied on: damaged, half-written, from a different
/// version of Heed, edited (the configuration no longer hashes to the ID), or not readable at the moment
/// (Parsed::is_unreadable).
Parsed<RunEntry> read_entry(const RunFolder& run);

/// The data in a run's folder without its metrics.
struct RunRecord {
  RunState state = RunState::missing;
  std::optional<Manifest> manifest; ///< none if nothing was executed yet
};

/// Reads the entries of many runs. A configuration that differs from an earlier one only in its seed is not parsed
/// again.
class EntryReader {
public:
  EntryReader();
  ~EntryReader();
  EntryReader(EntryReader&&) noexcept;
  EntryReader& operator=(EntryReader&&) noexcept;

  /// The same as the function read_entry.
  Parsed<RunEntry> read_entry(const RunFolder& run);
  /// Does the same checks and gives the same errors as read_entry, but opens no checkpoint.
  /// @param line   called with each line of the metrics; if the result is an error, the lines are not valid
  Parsed<RunRecord> read_record(
      const RunFolder& run, const std::function<void(const MetricsRecord&)>& line = [](const MetricsRecord&) {});

private:
  struct Shared;
  struct Known;
  struct Checked;
  Parsed<Checked> read(const RunFolder& run);
  std::unique_ptr<Known> known_;
};

/// An option's value from `flatten` as SQLite stores it: true and false as 1 and 0, lists as in TOML.
Cell option_cell(const std::string& key, const std::string& toml_value);

/// The option with this name of `flatten`, including options of single blocks ("block[2].attention.score"). Null if
/// there is none.
const Option* option_of_flat(const std::string& key);

/// The number of values in a checkpoint's file without the optimiser's, from its header only. None if the header is
/// invalid.
std::optional<std::int64_t> parameters_in(const FileParts& checkpoint);

} // namespace heed
