#include "experiments/launch/process_group_launcher.hpp"

#include "autograd/error.hpp"
#include "autograd/ranks.hpp"
#include "experiments/system/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace heed {

ProcessGroupLauncher::ProcessGroupLauncher(Ranks& ranks, WorkerParts parts) : ranks_(ranks), parts_(std::move(parts)) {
  parts_.tell = [this](std::string_view what) { end_.failure = what; };
  parts_.stop_requested = [this] { return stop_.load(); };
  parts_.begin_together = [this](const ProcessGroupRun& run) {
    announce(ranks_, run);
    together_ = true;
    return &ranks_;
  };
}

ProcessGroupLauncher::~ProcessGroupLauncher() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

int ProcessGroupLauncher::processes() const { return ranks_.count(); }

std::size_t ProcessGroupLauncher::start(const RunFolder& run, int threads) {
  if (thread_.joinable()) throw Failed("the process group has a run already");
  end_ = {};
  end_.worker = ++started_;
  done_ = together_ = false;
  thread_ = std::thread([this, run, threads] { work(run, threads); });
  return started_;
}

void ProcessGroupLauncher::work(const RunFolder& run, int threads) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  try {
    Descriptor file = run.log().open_to_append();
    const std::unique_ptr<std::FILE, decltype(close)> log(::fdopen(file.get(), "a"), close);
    if (!log) throw Failed(fmt::format("'{}' can't be written: {}", run.log().string(), std::strerror(errno)));
    file.release();
    parts_.log = log.get();
    parts_.kernels = kernels_;
    end_.status = run_worker(run, threads, parts_);
  } catch (const Failed& failed) {
    end_.status = 1;
    end_.failure = failed.what();
  }
  done_ = true;
}

std::vector<WorkerEnd> ProcessGroupLauncher::ended() {
  if (!thread_.joinable() || !done_) return {};
  thread_.join();
  broken_ = broken_ || (together_ && !end_.failure.empty());
  return {end_};
}

} // namespace heed
