// A run's folder, OUT/ID/, and its files. The folders are the only source of truth; all other records of runs are
// derived from them.
//
//   config.toml                    resolved
//   manifest.json                  what executed it, where, when, and how it ended
//   metrics.jsonl                  one object a line: step, seconds, tokens, then the metrics
//   checkpoint-000123.safetensors  after step 123; the newest two are stored
//   vocabulary.json                the tokens, if the task reads data of the user; not part of the record
//   attention.json                 attention weights for chosen inputs, if requested
//   examples.json                  the score of each validation example, if requested
//   progress.json                  for a live progress line while the run is executed; not part of the record
//   log.txt                        the process's output, if there was any
//   claim                          the process that owns the run at the moment, if any (system/lease.hpp)
//   queued.json                    where the run waits: in a cluster's queue (runs/run_state.hpp)
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

/// One run's folder. It may not exist.
struct RunFolder {
  std::filesystem::path path;
  /// Called before each change in the folder. For the owner of the run's claim, it throws if another process has the
  /// claim now.
  std::function<void()> before_change = {};

  std::string id() const { return path.filename().string(); }
  OutputFile folder() const { return {path.parent_path(), path.filename(), before_change}; }
  OutputFile config() const { return folder() / "config.toml"; }
  OutputFile manifest() const { return folder() / "manifest.json"; }
  OutputFile metrics() const { return folder() / "metrics.jsonl"; }
  OutputFile progress() const { return folder() / "progress.json"; }
  OutputFile vocabulary() const { return folder() / "vocabulary.json"; }
  OutputFile attention() const { return folder() / "attention.json"; }
  OutputFile examples() const { return folder() / "examples.json"; }
  OutputFile log() const { return folder() / "log.txt"; }
  /// The file of the lease (system/lease.hpp) with which one process owns the run, and no other on any machine does.
  OutputFile claim() const { return folder() / "claim"; }
  OutputFile queued() const { return folder() / "queued.json"; }
  OutputFile checkpoint(std::int64_t step) const;
};

/// Creates the folder with its config.toml. If there is a config.toml that differs (in options that can't change
/// results: the data's path, threads, ...), it is replaced unless the run is finished or being executed. Other files in
/// the folder stay.
RunFolder prepare_run(const std::filesystem::path& out, const std::string& id, std::string_view config_toml);

/// The text of config.toml, with the bound of every configuration.
Parsed<std::string> read_config_text(const RunFolder& run);
/// The resolved configuration. Throws heed::Refused if the file is missing or damaged, or if another version of Heed
/// wrote the run in another format; heed::Unreadable if the file can't be read at the moment.
Config read_config(const RunFolder& run);

/// IDs of all runs in an output folder, in alphabetical order; empty if the folder is missing. Throws heed::Refused if
/// it can't be listed.
std::vector<std::string> run_ids(const std::filesystem::path& out);

/// The ID in `out` that begins with `beginning`. Throws heed::Refused, and says what exists instead or which runs
/// match.
std::string complete_id(const std::filesystem::path& out, const std::string& beginning);

/// Resolves a RUN argument: a path to a run's folder, or a unique prefix of an ID in `out`. Throws heed::Refused, and
/// says what exists instead or which runs match.
RunFolder find_run(const std::filesystem::path& out, const std::string& run);

} // namespace heed
