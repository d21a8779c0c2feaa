// Runs as folders, OUT/ID/. The folders are the truth: whatever else knows of runs is derived from them.
//
//   config.toml                    resolved
//   manifest.json                  what ran it, where, when, and how it ended
//   metrics.jsonl                  an object a line: step, seconds, tokens, then what was measured
//   checkpoint-000123.safetensors  after step 123; the last two
//   attention.json                 attention weights for chosen inputs, where they were asked for
//   progress.json                  for a live line while the run goes on, not part of the record
//   log.txt                        what the process wrote on its outputs, where it wrote anything
//   claim                          whose the run is now, while it is somebody's (system/lease.hpp)
//   queued.json                    where it waits for its turn: in a cluster's queue (runs/queue_mark.hpp)
#pragma once

#include "experiments/system/output_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Config;

/// One run's folder, which need not be there.
struct RunFolder {
  std::filesystem::path path;
  /// Called right before each change in the folder: by who has the run's claim, it throws once that is another's.
  std::function<void()> before_change = {};

  std::string id() const { return path.filename().string(); }
  OutputFile folder() const { return {path.parent_path(), path.filename(), before_change}; }
  OutputFile config() const { return folder() / "config.toml"; }
  OutputFile manifest() const { return folder() / "manifest.json"; }
  OutputFile metrics() const { return folder() / "metrics.jsonl"; }
  OutputFile progress() const { return folder() / "progress.json"; }
  OutputFile attention() const { return folder() / "attention.json"; }
  OutputFile log() const { return folder() / "log.txt"; }
  OutputFile claim() const { return folder() / "claim"; }
  OutputFile queued() const { return folder() / "queued.json"; }
  OutputFile checkpoint(std::int64_t step) const;
};

/// Makes the folder with its config.toml. Where there is one that differs (in what can't change results: the data's
/// path, threads, ...), it is replaced unless the run is finished or under way. What else the folder holds stays.
RunFolder prepare_run(const std::filesystem::path& out, const std::string& id, std::string_view config_toml);

/// The resolved configuration. Throws heed::Refused where the file is missing or damaged, heed::Unreadable where it can't
/// be read now.
Config read_config(const RunFolder& run);

/// IDs of all runs in an output folder, in alphabetical order; none where it is missing. Throws heed::Refused where it
/// can't be listed.
std::vector<std::string> run_ids(const std::filesystem::path& out);

/// A RUN argument: a path to a run's folder, or a unique beginning of an ID in `out`. Throws heed::Refused: what is
/// there instead, or which runs it could be.
RunFolder find_run(const std::filesystem::path& out, const std::string& run);

} // namespace heed
