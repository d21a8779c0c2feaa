#include "experiments/runs/worker.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_comparison.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/runs/run_start.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/failure.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/vocabulary_text.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <new>

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

/// Key of a checkpoint's metadata: the checksum of metrics.jsonl up to its step. It is stored here too because the
/// manifest may be lost.
constexpr const char* metrics_key = "metrics";

/// Writes a message to standard error or a file, without control characters. A full disk may prevent it; this does not
/// make the run fail.
void say(const WorkerParts& parts, const RunFolder& run, std::string_view what) {
  const std::string line = without_controls(fmt::format("heed: run {}: {}\n", run.id(), cut(what, longest_message)));
  std::fwrite(line.data(), 1, line.size(), parts.log);
  std::fflush(parts.log);
}

/// Another process has taken over the run and now owns its folder.
struct TakenOn : Failed {
  using Failed::Failed;
};

void require_own(const RunFolder& run, bool own) {
  if (own) return;
  const auto owner = Lease::owner(run.claim());
  throw TakenOn(fmt::format(
      "this process was halted, or could not reach '{}', and {} took the run over meanwhile; it continues there",
      run.path.string(),
      owner ? "process " + fmt::format("{} on {}", owner->process, owner->host) : std::string("another process")));
}

/// This process's manifest of the run, updated during the run.
class Record {
public:
  Record(const RunFolder& run, const WorkerParts& parts) : run_(run), parts_(parts) {
    const auto before = read_manifest(run);
    require_readable(before);
    if (before) manifest_ = before_ = *before;
    else if (!before.is_missing()) damaged_ = before.error;
    seconds_before_ = manifest_.seconds;
    const Machine machine = this_machine();
    manifest_.run = run.id();
    manifest_.build = parts.build;
    manifest_.host = machine.host;
    manifest_.cpu = machine.cpu;
    manifest_.starts += 1;
    if (manifest_.started.empty()) manifest_.started = utc_now();
    manifest_.ended.clear();
    manifest_.failure.clear();
    manifest_.refused = false;
    manifest_.outcome = "running";
  }

  Manifest& manifest() { return manifest_; }

  /// Records how the steps up to `step` were executed by an earlier process, if the difference can change results in
  /// the last bits.
  void go_on_from(std::int64_t step) {
    std::erase_if(manifest_.earlier, [&](const EarlierSteps& earlier) { return earlier.until > step; });
    if (step == 0) return;
    std::string made = joined(bit_differences(before_, manifest_), ", ",
                              [](const MachineDifference& d) { return fmt::format("{} \"{}\"", d.what, d.a); });
    if (made.empty()) return;
    say(parts_, run_,
        fmt::format("warning: it resumes from step {} on another machine or build: the steps before were computed "
                    "with {}; the last bits may differ from those of one machine",
                    step, made));
    manifest_.earlier.push_back({step, std::move(made)});
  }

  /// Records how the steps from now on are executed.
  void use(const std::string& kernels, const Engine& engine) {
    manifest_.build.kernels = kernels;
    manifest_.build.blas = engine.products();
  }

  /// The instruction set of the run's earlier steps. Empty if the run begins, or if it was not recorded.
  std::string instruction_set_before() const {
    return checkpoint_steps(run_).empty() ? std::string() : before_.build.kernels;
  }

  /// Adds the checksum of the metrics at a checkpoint and keeps those of the last `keep` checkpoints besides.
  void add_checksum(MetricsChecksum sum, std::int64_t keep) {
    std::vector<MetricsChecksum>& sums = manifest_.metrics;
    sums.push_back(std::move(sum));
    if (const auto most = static_cast<std::size_t>(keep) + 1; sums.size() > most)
      sums.erase(sums.begin(), sums.end() - static_cast<std::ptrdiff_t>(most));
  }

  void write(Durability durability = Durability::disk) {
    if (!damaged_.empty()) {
      say(parts_, run_,
          fmt::format("warning: {}; it is now '{}'", std::exchange(damaged_, {}),
                      run_.manifest().set_aside().string()));
    }
    manifest_.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
    run_.manifest().write(to_json(manifest_), durability);
  }

  void end(std::string_view outcome) {
    manifest_.outcome = outcome;
    manifest_.ended = utc_now();
    write();
  }

private:
  RunFolder run_;
  const WorkerParts& parts_;
  Manifest manifest_, before_; ///< before_: as the last process left it
  std::string damaged_;        ///< why the file, as it was left, is damaged
  double seconds_before_ = 0;
  Clock::time_point start_ = Clock::now();
};

/// metrics.jsonl during the run, with the checksum of everything that this process and earlier ones wrote. If another
/// program removes lines meanwhile, the checksum detects it.
class GrowingMetrics {
public:
  explicit GrowingMetrics(const RunFolder& run) : run_(run), hash_(hash_of_metrics(run, size_)) {}

  void add(const MetricsRecord& metrics) {
    require_whole();
    const std::string line = append_metrics(run_, metrics);
    hash_.add(line);
    size_ += line.size();
  }

  /// The checksum for a checkpoint at this step.
  MetricsChecksum sum(std::int64_t step) const {
    require_whole();
    return {step, hash_.text(), size_};
  }

private:
  void require_whole() const {
    const auto there = run_.metrics().identity();
    require_readable(there);
    if (there.value.value_or(FileIdentity{}).size != size_)
      throw Failed(fmt::format(
          "'{}' was changed or removed during the run; run again, and it resumes from the last complete checkpoint",
          run_.metrics().string()));
  }

  RunFolder run_;
  std::uint64_t size_ = 0;
  ContentHash hash_;
};

/// Writes progress.json at most five times a second. It is not part of the record: if it can't be written, the run
/// continues.
class LiveLine {
public:
  explicit LiveLine(const RunFolder& run) : file_(run.progress()) {}

  void show(const Progress& progress) {
    newest_ = progress;
    if (const auto now = Clock::now(); now >= next_) {
      next_ = now + std::chrono::milliseconds(200);
      write();
    }
  }

  void write() {
    if (!newest_) return;
    try {
      file_.write(to_json(*newest_), Durability::process);
    } catch (const TakenOn&) {
      throw;
    } catch (const Failed&) {
    }
    newest_.reset();
  }

private:
  OutputFile file_;
  std::optional<Progress> newest_;
  Clock::time_point next_ = Clock::now();
};

/// Finds the newest intact checkpoint and brings the folder to its state: no later file keeps its name. Files that are
/// skipped are renamed, and removed after the run is finished. Throws heed::Unreadable before any change.
std::optional<KeptCheckpoint> take_up(const RunFolder& run, const WorkerParts& parts, Manifest& manifest) {
  std::vector<std::string> damaged;
  bool metrics_changed = false;
  auto kept = newest_checkpoint(run, &damaged, [&](std::int64_t step, const Checkpoint& checkpoint) -> std::string {
    const auto sum = checkpoint.metadata.find(metrics_key);
    if (sum == checkpoint.metadata.end() || sum->second == metrics_checksum(run, step).hash) return {};
    metrics_changed = true;
    return fmt::format("'{}' was changed since step {}, so the run can't resume from that step", run.metrics().string(),
                       step);
  });
  for (const std::string& what : damaged) say(parts, run, "warning: " + what);
  const std::int64_t step = kept ? kept->step : -1;
  truncate_metrics(run, step, metrics_changed);
  for (const std::int64_t later : checkpoint_steps(run))
    if (later > step) run.checkpoint(later).set_aside();
  std::erase_if(manifest.metrics, [&](const MetricsChecksum& sum) { return sum.step > step; });
  return kept;
}

/// Removes the files that were skipped, because the run finished without them.
void remove_passed_over(const RunFolder& run) {
  const auto names = run.folder().names();
  for (const std::string& name : names ? *names : std::vector<std::string>())
    if (name.find(".damaged") != std::string::npos) (run.folder() / name).remove();
}

void check_identity(const RunFolder& run, const Config& config, const std::string& fingerprint) {
  if (const std::string id = run_id(config, fingerprint); id != run.id())
    throw Refused(fmt::format("'{}' holds the configuration or the data of another run ({}): its config.toml, its data "
                              "or Heed's numerics changed since it was planned; remove the folder, and run the "
                              "original file again",
                              run.path.string(), id));
}

/// The instruction set with which the run began, else that of its sweep.
std::string instruction_set_for(const RunFolder& run, const Config& config, const WorkerParts& parts,
                                const std::string& before) {
  std::string kernels = instruction_set_of(config, {before, parts.kernels});
  const std::string& wanted = before.empty() ? parts.kernels : before;
  if (config.engine.kernels == "auto" && !wanted.empty() && kernels != wanted)
    say(parts, run,
        fmt::format("warning: {} kernels {}, which this CPU or this Heed does not have; this process uses {}, so the "
                    "results can differ in the last bits",
                    before.empty() ? "the sweep has" : "the run was begun with", wanted, kernels));
  return kernels;
}

/// Writes vocabulary.json if it is missing and the task reads data of the user. It is not part of the record: if it
/// can't be written, the run continues.
void write_vocabulary(const RunFolder& run, const Config& config, const Task& task, const WorkerParts& parts) {
  if (config.data.path.empty() || run.vocabulary().exists()) return;
  try {
    if (const std::string json = vocabulary_json(task, parts.task_format_of(config)); !json.empty())
      run.vocabulary().write(json, Durability::process);
  } catch (const TakenOn&) {
    throw;
  } catch (const Failed& failed) {
    say(parts, run, fmt::format("warning: vocabulary.json was not written: {}", failed.what()));
  }
}

Outcome train(const RunFolder& run, const Lease& claim, int threads, const WorkerParts& parts, Record& record,
              bool& stepped) {
  Config config = read_config(run);
  record.manifest().numerics = numerics_of(flatten(config));
  if (threads > 0) config.train.threads = threads;
  const std::unique_ptr<Task> task = parts.make_task(config);
  const std::string fingerprint = task->fingerprint();
  check_identity(run, config, fingerprint);
  const std::string kernels = instruction_set_for(run, config, parts, record.instruction_set_before());
  const Engine& engine = parts.engine(config, kernels);
  engine.check(config, *task);
  record.use(kernels, engine);

  Manifest& manifest = record.manifest();
  manifest.name = config.general.name;
  manifest.data = fingerprint;
  manifest.threads = static_cast<int>(config.train.threads > 0 ? config.train.threads
                                                               : std::min(usable_cores(), most_useful_threads));
  auto kept = take_up(run, parts, manifest);
  manifest.step = kept ? kept->step : 0;
  record.go_on_from(manifest.step);
  // A run that begins has nothing to save yet: the first checkpoint synchronises the folder.
  record.write(kept ? Durability::disk : Durability::content);

  write_vocabulary(run, config, *task, parts);

  LiveLine live(run);
  GrowingMetrics growing(run);
  TrainingHooks hooks;
  hooks.measured = [&](const MetricsRecord& metrics) { growing.add(metrics); };
  hooks.checkpoint = [&](Checkpoint checkpoint) {
    const auto step = step_of(checkpoint);
    if (!step) throw Failed("[checkpoint] cannot be kept: " + step.error);
    MetricsChecksum sum = growing.sum(*step);
    checkpoint.metadata[metrics_key] = sum.hash;
    record.add_checksum(std::move(sum), config.train.keep_checkpoints);
    // before the checkpoint, so that every checkpoint has its checksum in the manifest
    record.write(Durability::process);
    write_checkpoint(run, *step, checkpoint, config.train.keep_checkpoints);
    manifest.step = *step;
    record.write(Durability::process);
  };
  hooks.progress = [&](const Progress& progress) {
    stepped = true;
    require_own(run, !claim.lost());
    live.show(progress);
  };
  hooks.stop_requested = parts.stop_requested;
  if (parts.threads_allowed)
    hooks.threads = [&] {
      manifest.threads = std::max(manifest.threads, parts.threads_allowed());
      return manifest.threads;
    };

  hooks.start = [&] {
    TakenStart taken = take_start(run, config, *task, engine, parts);
    say(parts, run, start_in_words(taken.record));
    manifest.start = std::move(taken.record);
    record.write(Durability::process);
    return std::move(taken.weights);
  };

  std::optional<Checkpoint> from;
  if (kept) from = std::move(kept->checkpoint);
  if (parts.begin_together) hooks.ranks = parts.begin_together({run, threads, kept ? kept->step : -1, kernels});
  const Outcome outcome = engine.train(config, *task, from, hooks);
  if (!run.config().exists())
    throw Failed(fmt::format("'{}' was removed during the run; run again", run.config().string()));
  live.write();
  return outcome;
}

/// Records the failure in the manifest and reports it. A full disk must not hide the failure.
int failed(const RunFolder& run, const WorkerParts& parts, Record& record, std::string message, bool refused) {
  try {
    const auto steps = refused ? std::vector<std::int64_t>() : checkpoint_steps(run);
    if (!steps.empty()) message += fmt::format(" (its checkpoint of step {} is saved)", steps.front());
  } catch (const Unreadable& also) {
    say(parts, run, also.what());
  }
  message = cut(message, longest_message);
  say(parts, run, message);
  parts.tell(message);
  record.manifest().failure = message;
  record.manifest().refused = refused;
  try {
    record.end("failed");
    leave_queue(run);
  } catch (const Failed& also) {
    say(parts, run, also.what());
  }
  return refused ? 2 : 1;
}

} // namespace

int run_worker(const RunFolder& folder, int threads, const WorkerParts& given) {
  WorkerParts parts = given;
  std::optional<StopSignals> signals;
  if (!parts.stop_requested) {
    signals.emplace(true);
    parts.stop_requested = StopSignals::requested;
  }
  RunFolder run = folder;
  const auto give_up = [&](const std::exception& error, int status) {
    say(parts, run, error.what());
    parts.tell(error.what());
    return status;
  };
  const WaitScope waits([&](const std::string& what) { say(parts, run, what); });
  std::optional<Lease> claim;
  std::optional<Record> record;
  bool stepped = false;
  try {
    claim = Lease::wait(run.claim(), parts.stop_requested);
    if (!claim) return 1;
    run.before_change = [&] { require_own(folder, claim->confirm()); };
    const RunSnapshot look = snapshot_of_claimed(run);
    if (!look.unreadable.empty()) throw Unreadable(look.unreadable);
    if (look.state == RunState::finished) {
      leave_queue(run);
      return 0;
    }
    run.folder().remove_leftovers();
    record.emplace(run, parts);
  } catch (const Unreadable& error) {
    return give_up(error, untouched);
  } catch (const Failed& error) {
    return give_up(error, 2);
  }

  try {
    const Outcome outcome = train(run, *claim, threads, parts, *record, stepped);
    require_own(run, claim->confirm());
    if (outcome == Outcome::finished) {
      record->end("finished");
      leave_queue(run);
      remove_passed_over(run);
      return 0;
    }
    record->end("interrupted");
    say(parts, run,
        fmt::format("stopped; its checkpoint of step {} is saved, and it will resume from there",
                    record->manifest().step));
    return 1;
  } catch (const TakenOn& error) {
    say(parts, run, error.what());
    return 1;
  } catch (const Unreadable& error) {
    return give_up(error, untouched);
  } catch (const Refused& error) {
    return failed(run, parts, *record, error.what(), !stepped);
  } catch (const std::bad_alloc&) {
    return failed(run, parts, *record,
                  "out of memory; make the model or the batch smaller, or run fewer at once (--jobs)", false);
  } catch (const std::exception& error) {
    return failed(run, parts, *record, failure_in_words(error), false);
  }
}

} // namespace heed
