// heed rerun: repeats a finished run from its resolved configuration, and says whether the results are bit-identical.
#include "experiments/actions/build.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/command_line/run_display.hpp"
#include "experiments/config/config.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/launch/local_launcher.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_comparison.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/system/program.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <system_error>

namespace heed {

namespace {

struct RerunArguments {
  std::string run, out = "runs", into;
  int threads = 0;
  ResultOptions result;
};

/// The output folder of the repeated run: the folder of --into, which stays, or a temporary folder, which the
/// destructor removes.
class Place {
public:
  explicit Place(const std::string& into) : stays_(!into.empty()), path_(into) {
    if (stays_) {
      make_output_folder(path_);
      return;
    }
    std::error_code error;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
    if (error)
      throw Refused(fmt::format("the folder for temporary files (TMPDIR) can't be used: {}; name another folder with "
                                "--into",
                                error.message()));
    std::string name = (temporary / "heed-rerun-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Refused(fmt::format("cannot create a folder like '{}': {}; name a folder with --into", name,
                                std::generic_category().message(errno)));
    path_ = name;
  }
  ~Place() {
    std::error_code error;
    if (!stays_) std::filesystem::remove_all(path_, error);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool stays() const { return stays_; }

private:
  bool stays_;
  std::filesystem::path path_;
};

/// The finished run, and everything needed to repeat it.
struct Original {
  RunFolder folder;
  Config config;
  Manifest manifest;
  std::string id; ///< the run's ID under this program's numerics
};

Original original_of(const RerunArguments& arguments, Console& console) {
  Original out{find_run(arguments.out, arguments.run), {}, {}, {}};
  out.config = read_config(out.folder);
  const std::string id = out.folder.id();
  const RunState state = state_of(out.folder);
  auto manifest = read_manifest(out.folder);
  if (state == RunState::running || !manifest || manifest->outcome != "finished")
    throw Refused(fmt::format("run {} is {}, and only a finished run can be compared; finish it first, with its "
                              "configuration",
                              id, name_of(state)));
  out.manifest = std::move(*manifest);
  // Metrics that were edited after the run finished are still compared: the edit may be the reason for this command.
  const auto wrong = wrong_metrics(out.folder, out.manifest);
  if (!wrong) throw Unreadable(wrong.error);
  if (!wrong->empty()) say(console, fmt::format("warning: run {}: {}", id, *wrong));
  if (out.manifest.numerics == numerics_of(flatten(out.config)) && run_id(out.config, out.manifest.data) != id)
    throw Refused(fmt::format("the config.toml of run {} no longer hashes to its ID: the file was edited after the run",
                              id));
  Tasks tasks;
  const std::string data = tasks.of(out.config).fingerprint();
  if (data != out.manifest.data)
    throw Refused(fmt::format("the data of run {} has changed since its training ({}, and now {}); restore the "
                              "original data{}",
                              id, cut(out.manifest.data), cut(data),
                              out.config.data.path.empty() ? "" : fmt::format(" at \"{}\"", out.config.data.path)));
  out.id = run_id(out.config, data);
  return out;
}

/// Before the run starts, warns of every difference between the original's environment and this one that can change
/// bits.
void warn_of_differences(const Original& original, Console& console) {
  Manifest here;
  const Machine machine = this_machine();
  here.build = this_build();
  here.build.kernels = instruction_set_of(original.config, {original.manifest.build.kernels});
  here.build.blas = engine(original.config, here.build.kernels).products();
  here.numerics = numerics_of(flatten(original.config));
  here.cpu = machine.cpu;
  for (const MachineDifference& d : bit_differences(original.manifest, here))
    say(console, fmt::format("warning: {} was \"{}\", and is \"{}\" here; the bits may differ", d.what, d.a, d.b));
}

void run_again(const RunFolder& run, const Original& original, int threads, Console& console) {
  ExecutionSummary executed;
  std::string reason;
  {
    const std::int64_t steps = original.config.train.steps;
    RunDisplay display(console, {{fmt::format("{} again", original.folder.id()), steps, 1.0}});
    const StopSignals signals;
    LocalLauncher launcher;
    launcher.prefer_instruction_set(original.manifest.build.kernels);
    launcher.find_starts_in(std::filesystem::absolute(original.folder.path).parent_path());
    Executor executor(launcher, Allocation{1, threads});
    executed = executor.execute(
        std::span(&run, 1),
        [&](const RunEvent& event) {
          if (event.kind == RunEvent::Kind::failed) reason = event.reason;
          display.take(event);
        },
        [&] {
          display.tick();
          return StopSignals::requested();
        });
  }
  if (executed.failed > 0) throw Failed(fmt::format("the run failed this time: {}", reason));
  if (!executed.all_done()) throw Stopped("stopped before its end, so there is nothing to compare");
  if (executed.finished != 1)
    throw Failed(fmt::format("another process finished '{}' in the meantime, so nothing was run here; name an empty "
                             "folder with --into",
                             run.path.string()));
}

/// Throws heed::Refused if the output folder already holds this run: a finished run would be skipped and an unfinished
/// run resumed, so it would not be repeated in full.
void refuse_what_is_there(const Place& place, const Original& original) {
  const RunFolder there{place.path() / original.id};
  std::error_code error;
  if (std::filesystem::equivalent(there.path, original.folder.path, error))
    throw Refused("--into is the folder of the run itself; name another folder");
  if (std::filesystem::symlink_status(there.path, error).type() == std::filesystem::file_type::not_found) return;
  const RunState state = state_of(there);
  throw Refused(fmt::format("'{}' holds this run already ({}); name an empty folder with --into", place.path().string(),
                            state == RunState::missing ? "not begun" : name_of(state)));
}

int rerun(const RerunArguments& arguments, Console& console) {
  ResultOutput output("rerun", arguments.result);
  const Original original = original_of(arguments, console);
  warn_of_differences(original, console);
  const Place place(arguments.into);
  refuse_what_is_there(place, original);
  const RunFolder again = prepare_run(place.path(), original.id, to_toml(original.config));
  const auto configured = static_cast<int>(original.config.train.threads);
  const Allocation share = allocate_machine(this_machine(), 1, 0.0, 1,
                                            arguments.threads > 0 ? arguments.threads : configured,
                                            most_useful_threads);
  console.err << fmt::format("run {} again: {} steps on {} thread{}; it took {}\n", original.folder.id(),
                             with_commas(original.config.train.steps), share.threads, plural(share.threads),
                             duration(original.manifest.seconds));
  console.err.flush();
  run_again(again, original, share.threads, console);

  const RunComparison compared = compare_runs(original.folder, again);
  for (const std::string& what : compared.not_compared) say(console, what);
  if (output.is("json")) {
    RerunResult result{original.folder.id(),
                       compared.same(),
                       static_cast<std::int64_t>(compared.lines),
                       compared.numbers,
                       static_cast<std::int64_t>(compared.tensors),
                       compared.differences,
                       compared.not_compared,
                       {}};
    if (place.stays()) result.kept = again.path.string();
    output.write_result(result, console, compared.same() ? 0 : 1);
    return compared.same() ? 0 : 1;
  }
  if (compared.same()) {
    console.out << fmt::format("the same bits: {} lines of metrics, {} numbers in {} tensors of the last checkpoint\n",
                               compared.lines, with_commas(compared.numbers), compared.tensors);
  } else {
    console.out << "different:\n";
    for (const std::string& what : compared.differences) console.out << "  " << what << "\n";
  }
  if (place.stays()) console.out << "  kept in " << again.path.string() << "\n";
  return compared.same() ? 0 : 1;
}

} // namespace

void add_rerun(Commands& commands) {
  add_command<RerunArguments>(
      commands, "rerun", "repeat a finished run, and compare the results bit by bit",
      "Examples:\n"
      "  heed rerun 3f2a\n"
      "  heed rerun 3f2a --threads 1 --into again\n"
      "RUN is the path of a run's folder, or a unique beginning of its ID. The run is repeated from its\n"
      "config.toml, in a temporary folder, or in the folder that --into names. Then all metrics except seconds, and\n"
      "every tensor of the last checkpoint are compared. A warning comes first if CPU, BLAS, compiler or numerics\n"
      "differ from those in the run's manifest.\n"
      "Exit status 1 also means: the bits differ.",
      [](Command& command, RerunArguments& arguments) {
        command.add("RUN", arguments.run, "which run").required();
        command.add("--threads", arguments.threads, "overrides the configuration's value").within(1, 1024);
        command.add("--into FOLDER", arguments.into, "run in this folder, and do not remove it");
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
      },
      rerun);
}

} // namespace heed
