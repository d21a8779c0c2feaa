#include "experiments/launch/local_launcher.hpp"

#include "experiments/system/child.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/program.hpp"
#include "experiments/system/working_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace heed {
namespace {

std::string signal_in_words(int signal) {
  const char* name = strsignal(signal);
  std::string text = fmt::format("crashed with signal {} ({})", signal, name ? name : "unknown");
  if (signal == SIGKILL)
    text = "was killed (signal 9), often because memory ran out; run fewer at once (--jobs), or make the model smaller";
  return text;
}

/// Attributes of a new process: its process group and its files.
class Circumstances {
public:
  Circumstances() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    // Ctrl-C then reaches only the sweep, which asks its runs to stop.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
  }
  ~Circumstances() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  Circumstances(const Circumstances&) = delete;
  Circumstances& operator=(const Circumstances&) = delete;

  ::posix_spawn_file_actions_t files = {};
  ::posix_spawnattr_t attributes = {};
};

/// This process's environment with one BLAS thread, because a run has its own threads. Modules of the program were
/// built before, if needed.
std::vector<std::string> environment_of_worker() {
  std::vector<std::string> out{"OPENBLAS_NUM_THREADS=1"};
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view variable = *entry;
    if (!variable.starts_with("OPENBLAS_NUM_THREADS=") && !variable.starts_with("HEED_LAUNCHER="))
      out.emplace_back(variable);
  }
  return out;
}

/// The worker's file descriptors: of the pipe through which it reports, and of the socket from which it reads how many
/// threads it may use.
constexpr int told_through = 3, threads_from = 4;

} // namespace

struct LocalLauncher::Worker {
  std::size_t number = 0;
  ::pid_t process = 0;
  Descriptor told;    ///< read end of the worker's reports
  Descriptor threads; ///< write end of the numbers of threads that it may use
  bool asked_to_stop = false;

  ~Worker() {
    if (process == 0) return;
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// None while it runs.
  std::optional<WorkerEnd> end() {
    int status = 0;
    const ::pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
    process = 0;
    WorkerEnd end;
    end.worker = number;
    if (ended > 0 && WIFSIGNALED(status)) {
      end.crash = signal_in_words(WTERMSIG(status));
      end.by_stop = asked_to_stop && WTERMSIG(status) == SIGTERM;
    } else {
      end.status = ended > 0 ? WEXITSTATUS(status) : 1;
    }
    char block[4096];
    for (::ssize_t n; (n = ::read(told.get(), block, sizeof block)) > 0;)
      end.failure.append(block, static_cast<std::size_t>(n));
    return end;
  }
};

LocalLauncher::LocalLauncher()
    : program_(this_program()), file_(running_program()), working_folder_(WorkingFolder::open()) {}

LocalLauncher::LocalLauncher(std::filesystem::path program)
    : program_(std::move(program)), file_(program_), working_folder_(WorkingFolder::open()) {}

LocalLauncher::~LocalLauncher() = default;

std::size_t LocalLauncher::start(const RunFolder& run, int threads) {
  const Descriptor log = run.log().open_to_append();
  int ends[2] = {-1, -1};
  int sockets[2] = {-1, -1};
  bool connected = ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 &&
                   ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets) == 0;
  auto worker = std::make_unique<Worker>();
  worker->told = Descriptor(ends[0]);
  worker->threads = Descriptor(sockets[0]);
  const Descriptor told_end(ends[1]), threads_end(sockets[1]);
  // The worker's ends, with numbers above those that they get there: to copy one must not replace the other.
  const auto raised = [&](const Descriptor& end) {
    const int number = connected ? ::fcntl(end.get(), F_DUPFD_CLOEXEC, threads_from + 1) : -1;
    connected = connected && number >= 0;
    return Descriptor(number);
  };
  const Descriptor to_tell = raised(told_end), to_hear = raised(threads_end);
  const int failure = errno;

  std::vector<std::string> words{program_.string(),
                                 "worker",
                                 run.path.string(),
                                 "--threads",
                                 fmt::format("{}", threads),
                                 "--tell",
                                 fmt::format("{}", told_through),
                                 "--threads-from",
                                 fmt::format("{}", threads_from)};
  if (!kernels_.empty()) words.insert(words.end(), {"--kernels", kernels_});
  if (!starts_.empty()) words.insert(words.end(), {"--starts", starts_.string()});
  const std::vector<OpenPart> parts = open_parts();
  for (const OpenPart& part : parts)
    words.insert(words.end(), {"--part", fmt::format("{}={}", part.file, part.descriptor)});
  std::vector<std::string> variables = environment_of_worker();
  Circumstances around;
  if (working_folder_.get() >= 0) ::posix_spawn_file_actions_addfchdir_np(&around.files, working_folder_.get());
  ::posix_spawn_file_actions_addopen(&around.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&around.files, log.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&around.files, log.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&around.files, to_tell.get(), told_through);
  ::posix_spawn_file_actions_adddup2(&around.files, to_hear.get(), threads_from);
  // With source equal to target, the descriptor stays open in the new process.
  for (const OpenPart& part : parts)
    ::posix_spawn_file_actions_adddup2(&around.files, part.descriptor, part.descriptor);
  // Not fork: fork handlers of libraries (OpenBLAS and its threads) may wait forever if memory is short.
  const int error = connected ? ::posix_spawn(&worker->process, file_.c_str(), &around.files, &around.attributes,
                                              pointers_to(words).data(), pointers_to(variables).data())
                              : failure;
  if (error != 0) {
    worker->process = 0;
    throw Failed(fmt::format("cannot start '{}': {}", program_.string(), std::strerror(error)));
  }
  worker->number = ++started_;
  workers_.push_back(std::move(worker));
  return started_;
}

std::vector<WorkerEnd> LocalLauncher::ended() {
  std::vector<WorkerEnd> ends;
  std::erase_if(workers_, [&](const std::unique_ptr<Worker>& worker) {
    auto end = worker->end();
    if (end) ends.push_back(std::move(*end));
    return end.has_value();
  });
  return ends;
}

void LocalLauncher::wait(std::chrono::milliseconds most) {
  // A worker's end of its pipe closes when its process ends. Reports before this do not end the wait.
  std::vector<::pollfd> ends;
  for (const auto& worker : workers_) ends.push_back({worker->told.get(), 0, 0});
  if (::poll(ends.data(), ends.size(), static_cast<int>(most.count())) <= 0) return;
  // The process may not have ended yet, or may not end at all if something else closed the pipe.
  std::this_thread::sleep_for(std::min(most, std::chrono::milliseconds(1)));
}

void LocalLauncher::allow_threads(std::size_t number, int threads) {
  for (const auto& worker : workers_)
    if (worker->number == number) ::send(worker->threads.get(), &threads, sizeof threads, MSG_NOSIGNAL);
}

void LocalLauncher::stop(std::size_t number) {
  for (const auto& worker : workers_)
    if (worker->number == number) {
      worker->asked_to_stop = true;
      ::kill(worker->process, SIGTERM);
    }
}

} // namespace heed
