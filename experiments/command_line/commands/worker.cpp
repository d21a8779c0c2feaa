// heed worker: executes one run of a sweep in its own process. The launcher starts it, users don't.
#include "experiments/actions/build.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/runs/worker.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/system/program.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heed {

namespace {

struct WorkerArguments {
  std::string folder, kernels, starts;
  std::vector<std::string> parts;
  int threads = 0, threads_from = -1, tell = -1;
};

/// Sends `text` to the process that started this one, if it still exists.
void tell(int pipe, std::string_view text) {
  // A write of at most PIPE_BUF bytes to a pipe is atomic.
  while (::write(pipe, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF)) < 0 && errno == EINTR) {
  }
}

/// The newest number of threads in this socket; 0 if there is none.
int newest_number(int socket) {
  int newest = 0;
  for (int number = 0; ::recv(socket, &number, sizeof number, MSG_DONTWAIT) == sizeof number;) newest = number;
  return newest;
}

/// If the parent process dies, this process gets SIGTERM, as from `kill`.
void end_with_parent(int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::pollfd reader{pipe, 0, 0};
  if (::poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR) != 0) std::raise(SIGTERM); // the parent died before
}

/// Parses arguments such as "libheed_float64.so=10": the file name of a part of the program, and its open file
/// descriptor.
void take_parts(const std::vector<std::string>& parts) {
  for (const std::string& word : parts) {
    const std::size_t equals = word.rfind('=');
    int descriptor = -1;
    const char* const end = word.data() + word.size();
    if (equals != word.npos && std::from_chars(word.data() + equals + 1, end, descriptor).ptr == end)
      take_part({word.substr(0, equals), descriptor});
  }
}

int worker(const WorkerArguments& arguments, Console&) {
  // Sets the process name, because the path by which this process was started differs from the program's path.
  ::prctl(PR_SET_NAME, "heed");
  take_parts(arguments.parts);
  WorkerParts parts{
      [](const Config& config, const std::string& kernels) -> const Engine& { return engine(config, kernels); },
      make_task, task_format_of, this_build(), arguments.kernels};
  parts.starts = arguments.starts;
  if (arguments.tell >= 0) {
    std::signal(SIGPIPE, SIG_IGN);
    ::fcntl(arguments.tell, F_SETFD, FD_CLOEXEC);
    end_with_parent(arguments.tell);
    parts.tell = [&](std::string_view text) { tell(arguments.tell, text); };
  }
  if (arguments.threads_from >= 0) {
    ::fcntl(arguments.threads_from, F_SETFD, FD_CLOEXEC);
    parts.threads_allowed = [&] { return newest_number(arguments.threads_from); };
  }
  return run_worker(RunFolder{arguments.folder}, arguments.threads, parts);
}

} // namespace

void add_worker(Commands& commands) {
  add_command<WorkerArguments>(
      commands, "worker", "executes one run's folder", "",
      [](Command& command, WorkerArguments& arguments) {
        command.add("FOLDER TEXT", arguments.folder, "the run's folder, prepared").required();
        command.add("--threads", arguments.threads, "overrides the configuration's value");
        command.add("--kernels", arguments.kernels, "its sweep's, where the configuration names none");
        command.add("--starts", arguments.starts,
                    "the folder with the run of train.start, if it is not that of FOLDER");
        command.add("--part", arguments.parts, "a part of the program that is open, as FILE=DESCRIPTOR").repeatable();
        command.add("--threads-from", arguments.threads_from, "a socket with the threads that it may use later");
        command.add("--tell", arguments.tell, "a pipe to say through why the run failed");
      },
      worker)
      .hide();
}

} // namespace heed
