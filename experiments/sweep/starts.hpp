// The runs from which the runs of a plan start ([train] start).
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/runs/run_start.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace heed {

/// Reads each of these runs once. Only names, shapes and checksums of their weights stay in memory.
class Starts {
public:
  /// @param out  the output folder with these runs; empty: there is none, and every [train] start is refused
  explicit Starts(std::filesystem::path out) : out_(std::move(out)) {}

  /// The full ID and the checksum of a run, given by its ID or a unique beginning. Throws heed::Refused if it cannot be
  /// a start (read_start).
  Settings::Start find(const std::string& run);

  /// What a run of the configuration takes from its start; empty if it has none. Throws heed::Refused if they do not
  /// agree (check_start). The configuration is one of settings that `find` completed.
  std::optional<StartRecord> check(const Config& config, Tasks& tasks);

private:
  const StartRun& of(const std::string& id);

  std::filesystem::path out_;
  std::map<std::string, StartRun> known_;
};

} // namespace heed
