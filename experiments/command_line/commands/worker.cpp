// heed worker: one run of a sweep, in a process of its own. Not for people.
#include "experiments/command_line/build.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/runs/worker.hpp"

namespace heed {

namespace {

struct WorkerArguments {
  std::string folder;
  int threads = 0;
};

int worker(const WorkerArguments& arguments, Console&) {
  const WorkerParts parts{engine, make_task, this_build()};
  return run_worker(RunFolder{arguments.folder}, arguments.threads, parts);
}

} // namespace

void add_worker(Commands& commands) {
  add_command<WorkerArguments>(
      commands, "worker", "executes one run's folder", "",
      [](Command& command, WorkerArguments& arguments) {
        command.add("FOLDER", arguments.folder, "the run's folder, prepared").required();
        command.add("--threads", arguments.threads, "in place of the configuration's");
      },
      worker)
      .hide();
}

} // namespace heed
