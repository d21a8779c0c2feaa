// Runs on a cluster, in Slurm's queue.
#pragma once

#include "experiments/launch/launcher.hpp"
#include "experiments/launch/slurm_queue.hpp"
#include "experiments/launch/slurm_settings.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heed {

struct ChildResult;

/// What a run takes, about.
struct RunNeed {
  double seconds = 0; ///< 0: not known
  double bytes = 0;   ///< of memory
};

/// Hands runs to Slurm as arrays of tasks, short ones packed together, and follows them by their folders and by squeue.
/// They go on when this process ends; the next launcher finds them by the marks in their folders (queued.json), and
/// hands over only what nobody did.
class SlurmLauncher : public Launcher {
public:
  /// @param program  this one, at a path that the cluster's nodes have, too
  /// @param out      the output folder, which they see
  /// @param label    a name for people: the sweep's
  /// @param need     of a run, asked when it is handed over
  SlurmLauncher(std::filesystem::path program, std::filesystem::path out, std::string label, SlurmSettings settings,
                std::function<RunNeed(const RunFolder&)> need);

  /// Throws heed::Refused where there is no Slurm, it does not answer, or refuses the settings: its own words, and the
  /// nearest name.
  void check() const;

  bool outlives() const override { return true; }
  bool has(const RunFolder& run) override;
  std::size_t start(const RunFolder& run, int threads) override;
  void submit() override;
  std::vector<WorkerEnd> ended() override;
  void stop(std::size_t) override {}

  /// The arrays' numbers, of those that are followed.
  std::set<std::string> jobs() const;
  /// Reasons, in Slurm's words, for which runs may wait for ever: limits that are asked beyond, a job that is held.
  std::set<std::string> obstacles() const;
  /// Why Slurm does not answer at the moment; empty where it does.
  const std::string& complaint() const { return look_.complaint; }

private:
  struct Followed {
    std::size_t worker = 0;
    RunFolder run;
    QueueMark mark;
  };
  struct Wanted {
    std::size_t worker = 0;
    RunFolder run;
    int threads = 1;
    RunNeed need;
  };

  std::optional<QueueMark> live_mark(const RunFolder& run, bool newest);
  void look(bool newest);
  void follow(std::size_t worker, const RunFolder& run, const QueueMark& mark);
  std::vector<std::vector<Wanted>> packed(std::vector<Wanted> wanted) const;
  void submit(const std::vector<std::vector<Wanted>>& tasks);
  std::vector<std::string> words_for_all() const;
  [[noreturn]] void refuse(const ChildResult& result) const;
  std::optional<WorkerEnd> end_of(Followed& followed);

  std::filesystem::path program_, out_;
  std::string label_;
  SlurmSettings settings_;
  std::function<RunNeed(const RunFolder&)> need_;
  std::vector<Wanted> wanted_;
  std::vector<Followed> followed_;
  std::size_t started_ = 0, next_ = 0;
  std::set<std::string> known_; ///< submissions that marks named
  QueueSnapshot look_;
  std::chrono::steady_clock::time_point looked_{};
};

} // namespace heed
