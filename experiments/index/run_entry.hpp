// What can be known of a run from its folder at a glance: what an index keeps of it.
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

/// One metric over a run's lines.
struct MetricEntry {
  std::string name;
  double last = 0;                       ///< the last value; NaN where that was not finite
  std::int64_t step = 0;                 ///< of the last value
  std::optional<double> best;            ///< of metrics with a direction that is better (metrics_of)
  std::optional<std::int64_t> best_step; ///< the first step that had it
};

struct RunEntry {
  std::string id;
  RunState state = RunState::missing;
  std::optional<Manifest> manifest;       ///< none where nothing ran yet
  std::optional<std::int64_t> parameters; ///< numbers that are trained, from a checkpoint; none where there is none yet
  std::vector<std::pair<std::string, Cell>> options; ///< that do something, as `flatten` names them
  std::vector<MetricEntry> metrics;

  /// Null where the run has no such metric.
  const MetricEntry* metric(std::string_view name) const;
};

/// Reads a run's folder, or says in a sentence why it can't be relied on: damaged, half-written, from another version
/// of Heed, edited (the configuration no longer hashes to the ID), or not to be read now (Parsed::is_unreadable).
Parsed<RunEntry> read_entry(const RunFolder& run);

/// What a run's folder says of itself, but for its metrics.
struct RunRecord {
  RunState state = RunState::missing;
  std::optional<Manifest> manifest; ///< none where nothing ran yet
};

/// Reads the entries of many runs: a configuration that differs from an earlier one in its seed alone is not parsed
/// again.
class EntryReader {
public:
  EntryReader();
  ~EntryReader();
  EntryReader(EntryReader&&) noexcept;
  EntryReader& operator=(EntryReader&&) noexcept;

  /// As the function.
  Parsed<RunEntry> read_entry(const RunFolder& run);
  /// By the same checks, and with the same errors. No checkpoint is opened.
  /// @param line   called with each line of the metrics, of which none counts where there is an error in the end
  Parsed<RunRecord> read_record(
      const RunFolder& run, const std::function<void(const MetricsRecord&)>& line = [](const MetricsRecord&) {});

private:
  struct Shared;
  struct Known;
  struct Checked;
  Parsed<Checked> read(const RunFolder& run);
  std::unique_ptr<Known> known_;
};

/// An option's value, as `flatten` gives it, as SQLite stores it: true and false as 1 and 0, lists as TOML writes them.
Cell option_cell(const std::string& key, const std::string& toml_value);

/// The option that a name of `flatten` stands for, those of single blocks ("block[2].attention.score") included; null
/// where there is none.
const Option* option_of_flat(const std::string& key);

/// How many numbers a checkpoint's file holds apart from the optimiser's, from its header alone; none where the header
/// does not read.
std::optional<std::int64_t> parameters_in(const FileParts& checkpoint);

} // namespace heed
