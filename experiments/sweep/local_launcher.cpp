#include "experiments/sweep/local_launcher.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace heed {
namespace {

namespace process = boost::process;

std::string signal_in_words(int signal) {
  const char* name = strsignal(signal);
  std::string text = fmt::format("crashed with signal {} ({})", signal, name ? name : "unknown");
  if (signal == SIGKILL)
    text = "was killed (signal 9), often for want of memory; run fewer at once (--jobs), or make the model smaller";
  return text;
}

} // namespace

struct LocalLauncher::Worker {
  std::size_t number = 0;
  process::child child;
  bool asked_to_stop = false;

  bool ended() {
    std::error_code error;
    return !child.running(error) || error;
  }

  WorkerEnd end() const {
    WorkerEnd end{number, 0, {}, false};
    const int status = child.native_exit_code();
    if (WIFSIGNALED(status)) {
      end.crash = signal_in_words(WTERMSIG(status));
      end.by_stop = asked_to_stop && WTERMSIG(status) == SIGTERM;
    } else {
      end.status = WEXITSTATUS(status);
    }
    return end;
  }
};

LocalLauncher::LocalLauncher(std::filesystem::path program) : program_(std::move(program)) {}

LocalLauncher::~LocalLauncher() = default;

std::size_t LocalLauncher::start(const RunFolder& run, int threads) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::fopen(run.log().c_str(), "ae"), std::fclose);
  if (!log) throw Failed(fmt::format("cannot write '{}': {}", run.log().string(), std::strerror(errno)));
  const std::vector<std::string> arguments{"worker", run.path.string(), "--threads", fmt::format("{}", threads)};
  auto worker = std::make_unique<Worker>();
  std::error_code error;
  // clang-format off
  worker->child = process::child(process::exe = program_.string(), process::args = arguments,
                                 process::std_in < process::null, (process::std_out & process::std_err) > log.get(),
                                 error, process::extend::on_exec_setup = [](auto&) {
                                   // Ctrl-C reaches the sweep alone, which then asks its runs to stop; should it die
                                   // without a word, they are asked all the same.
                                   ::setpgid(0, 0);
                                   ::prctl(PR_SET_PDEATHSIG, SIGTERM);
                                 });
  // clang-format on
  if (error) throw Failed(fmt::format("cannot start '{}': {}", program_.string(), error.message()));
  worker->number = ++started_;
  workers_.push_back(std::move(worker));
  return started_;
}

std::vector<WorkerEnd> LocalLauncher::ended() {
  std::vector<WorkerEnd> ends;
  std::erase_if(workers_, [&](const std::unique_ptr<Worker>& worker) {
    if (!worker->ended()) return false;
    ends.push_back(worker->end());
    return true;
  });
  return ends;
}

void LocalLauncher::stop(std::size_t number) {
  for (const auto& worker : workers_)
    if (worker->number == number) {
      worker->asked_to_stop = true;
      ::kill(worker->child.id(), SIGTERM);
    }
}

} // namespace heed
