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

#include "experiments/config/settings.hpp"
#include "experiments/runs/safetensors.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/output_file.hpp"
#include "experiments/training/training.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

class ContentHash;

/// A run's identity, 16 hexadecimal digits: the options that can change a result (FlatOption::identifies), the data
/// (the task's `fingerprint()`) and the version of the numerics that last changed its results (`numerics_of`).
std::string run_id(const Config& config, std::string_view fingerprint);
std::string run_id(const std::vector<FlatOption>& options, std::string_view fingerprint);
/// What the identity is made of, as a text, and the identity of such a text.
std::string identity_text(const std::vector<FlatOption>& options, std::string_view fingerprint);
std::string run_id_of(std::string_view identity_text);

enum class RunState { missing, queued, running, interrupted, failed, finished };
std::string_view name_of(RunState state);

/// What the build knows of itself.
struct Build {
  std::string version; ///< Heed's
  std::string compiler;
  std::string flags;        ///< of the compiler
  std::string blas;         ///< who multiplies matrices: Heed's own products, or BLAS as it describes itself
  std::string kernels = {}; ///< training/kernels.hpp; empty: of a version that didn't say
};

/// What metrics.jsonl was when a checkpoint was kept.
struct MetricsSum {
  std::int64_t step = 0; ///< the checkpoint's
  std::string hash;      ///< content_hash() of the file up to then

  bool operator==(const MetricsSum&) const = default;
};

/// Steps that were made before a run went on elsewhere: by another program, on another CPU, with other kernels of BLAS.
struct EarlierSteps {
  std::int64_t until = 0; ///< the last of them
  std::string made;       ///< what was different then: cpu "...", blas "..."

  bool operator==(const EarlierSteps&) const = default;
};

/// manifest.json. Empty texts and zeros: not known (yet).
struct Manifest {
  std::string run;       ///< the ID
  std::string name;      ///< the configuration's
  std::string outcome;   ///< running | interrupted | failed | finished
  std::string failure;   ///< why it failed
  bool refused = false;  ///< it failed before its first step
  std::int64_t step = 0; ///< the last that is kept, when it ended
  int threads = 0;
  Build build;
  std::string host, cpu;
  int numerics = 0;
  std::string data;                  ///< the task's fingerprint
  std::string started, ended;        ///< UTC, "2024-05-01T12:00:00Z"; `started` is the first start
  double seconds = 0;                ///< of wall time in all its processes together
  int starts = 0;                    ///< how often it was begun or continued
  std::vector<MetricsSum> metrics;   ///< of the checkpoints that are there, oldest first; empty in earlier versions
  std::vector<EarlierSteps> earlier; ///< oldest first; empty where all steps were made alike
};
std::string to_json(const Manifest& manifest);
Parsed<Manifest> manifest_from_json(std::string_view bytes);

/// A line of metrics.jsonl, without the newline. Values that are not finite are written as null, and read as NaN.
std::string to_json(const Metrics& metrics);
Parsed<Metrics> metrics_from_json(std::string_view line);

std::string to_json(const Progress& progress);
Parsed<Progress> progress_from_json(std::string_view bytes);

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

/// `running` only while a process has the run's claim; `queued` while it waits in a cluster's queue, as far as its
/// folder knows. A folder without a whole manifest is `missing` where nothing ran in it yet.
/// A run whose metrics are not those it finished with is `interrupted`: what is lost can be made again. So is one whose
/// files can't be read now (RunLook::unreadable).
RunState state_of(const RunFolder& run);
/// Of each; many are looked at several at a time.
std::vector<RunState> states_of(const std::vector<RunFolder>& runs);
/// The state that the run was left in, for one who has its claim: never `running` or `queued`.
RunState state_of_claimed(const RunFolder& run);

/// A run's state with the records that it follows from, each read once.
struct RunLook {
  RunState state = RunState::missing;
  bool has_manifest = false; ///< there is such a file, whole or not
  Parsed<Manifest> manifest; ///< as read_manifest gives it
  std::string wrong_metrics; ///< as the function of this name says
  std::string unreadable;    ///< which file can't be read now, and why; empty where all can be
};
RunLook look_at(const RunFolder& run);
/// As who has the claim sees it: never `running` or `queued`.
RunLook look_at_claimed(const RunFolder& run);

Parsed<Manifest> read_manifest(const RunFolder& run);
/// The resolved configuration. Throws heed::Refused where the file is missing or damaged, heed::Unreadable where it can't
/// be read now.
Config read_config(const RunFolder& run);

/// All of a run's lines at once (runs/metrics_lines.hpp), of a run that is known to have few.
Parsed<std::vector<Metrics>> read_metrics(const RunFolder& run);
/// A line's value of a metric. time_per_token, which no line has, follows from its step_seconds and tokens; summaries of
/// what was looked at (rank_residual.mean) from what stands there of heads and layers.
std::optional<double> value_of(const Metrics& line, std::string_view name);
/// All that `value_of` knows of a line.
std::vector<std::pair<std::string, double>> values_of(const Metrics& line);
/// Returns the bytes that were added.
std::string append_metrics(const RunFolder& run, const Metrics& metrics);
/// What metrics.jsonl is now, and its size. Throws heed::Unreadable.
ContentHash hash_of_metrics(const RunFolder& run, std::uint64_t& size);
/// What metrics.jsonl is up to `step`, for the manifest. Throws heed::Unreadable.
MetricsSum metrics_sum(const RunFolder& run, std::int64_t step);
/// Why the metrics of a run that its manifest calls finished are not those it finished with; empty where they are. No
/// value where they can't be read now.
Parsed<std::string> wrong_metrics(const RunFolder& run, const Manifest& manifest);
/// Keeps the file up to the last whole line with a step up to `step`: what a run that continues there would write again
/// goes. Throws heed::Unreadable, too.
/// @param aside  what goes is kept in a copy of the file (OutputFile::copy_aside)
void truncate_metrics(const RunFolder& run, std::int64_t step, bool aside = false);

/// Steps of the checkpoints in the folder, the newest first, whether or not they are whole. Throws heed::Unreadable where
/// the folder can't be listed.
std::vector<std::int64_t> checkpoint_steps(const RunFolder& run);
/// Keeps the checkpoint, and then removes all but the newest `keep`.
void write_checkpoint(const RunFolder& run, std::int64_t step, const Checkpoint& checkpoint, std::int64_t keep = 2);
Parsed<Checkpoint> read_checkpoint(const RunFolder& run, std::int64_t step, CheckpointPart part = CheckpointPart::all);
/// The newest checkpoint that is whole, and for which `problem` has no sentence; `damaged` gets a sentence for each newer
/// one. Throws heed::Unreadable where one can't be read now: whether it is whole is then not known.
struct KeptCheckpoint {
  std::int64_t step = 0;
  Checkpoint checkpoint;
};
using CheckpointProblem = std::function<std::string(std::int64_t step, const Checkpoint&)>;
std::optional<KeptCheckpoint> newest_checkpoint(
    const RunFolder& run, std::vector<std::string>* damaged = nullptr,
    const CheckpointProblem& problem = [](std::int64_t, const Checkpoint&) { return std::string(); });
/// The same without the optimiser's tensors.
std::optional<KeptCheckpoint> newest_weights(const RunFolder& run, std::vector<std::string>* damaged = nullptr);

/// The step in a checkpoint's metadata ("step").
Parsed<std::int64_t> step_of(const Checkpoint& checkpoint);

/// That a run is this process's, and no other's on any machine.
class RunClaim {
public:
  /// Nothing if another process has it. Throws heed::Failed where its file can't be made.
  static std::optional<RunClaim> attempt(const RunFolder& run) { return of(Lease::attempt(run.claim())); }
  /// Waits; nothing if `give_up` says so.
  static std::optional<RunClaim> wait(const RunFolder& run, const std::function<bool()>& give_up) {
    return of(Lease::wait(run.claim(), give_up));
  }
  /// Whether any process, this one included, has the claim.
  static bool held(const RunFolder& run) { return Lease::held(run.claim()); }
  /// Who has it.
  static std::optional<LeaseOwner> owner(const RunFolder& run) { return Lease::owner(run.claim()); }

  /// Another took the run on, since this process was halted for long. As far as is known; `confirm` asks the file.
  bool lost() const { return lease_.lost(); }
  bool confirm() { return lease_.confirm(); }

private:
  explicit RunClaim(Lease&& lease) : lease_(std::move(lease)) {}
  static std::optional<RunClaim> of(std::optional<Lease>&& lease) {
    return lease ? std::optional(RunClaim(std::move(*lease))) : std::nullopt;
  }
  Lease lease_;
};

/// IDs of all runs in an output folder, in alphabetical order; none where it is missing. Throws heed::Refused where it
/// can't be listed.
std::vector<std::string> run_ids(const std::filesystem::path& out);

/// A RUN argument: a path to a run's folder, or a unique beginning of an ID in `out`. Throws heed::Refused: what is
/// there instead, or which runs it could be.
RunFolder find_run(const std::filesystem::path& out, const std::string& run);

} // namespace heed
