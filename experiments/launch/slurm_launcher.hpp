// Launches workers on a cluster, through Slurm's queue.
#pragma once

#include "experiments/launch/launcher.hpp"
#include "experiments/launch/slurm_queue.hpp"
#include "experiments/launch/slurm_settings.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace heed {

struct ChildResult;

/// Estimated resources of a run.
struct RunNeed {
  double seconds = 0; ///< 0: not known
  double bytes = 0;   ///< of memory
};

/// Submits runs to Slurm as job arrays, with several short runs in one task, and follows them by their folders and by
/// squeue. The jobs continue when this process ends. The next launcher finds them by the marks in their folders
/// (queued.json) and submits only runs that are not submitted yet.
class SlurmLauncher : public Launcher {
public:
  /// @param program  path of this program, valid on the cluster's nodes too
  /// @param out      the output folder, visible on the nodes
  /// @param label    a name for people: the sweep's
  /// @param need     the resources of a run, called when it is submitted
  SlurmLauncher(std::filesystem::path program, std::filesystem::path out, std::string label, SlurmSettings settings,
                std::function<RunNeed(const RunFolder&)> need);

  /// Throws heed::Refused if there is no Slurm, if it does not answer, or if it refuses the settings. The message has
  /// Slurm's own words and the nearest name.
  void check() const;

  bool outlives() const override { return true; }
  bool has(const RunFolder& run) override;
  std::size_t start(const RunFolder& run, int threads) override;
  std::vector<std::size_t> submit(const std::function<bool()>& stop_requested) override;
  std::vector<WorkerEnd> ended() override;
  void stop(std::size_t) override {}

  /// The job numbers of the arrays that are followed.
  std::set<std::string> jobs() const;
  /// Reasons, in Slurm's words, for which runs may wait forever: a request beyond a limit, a held job.
  std::set<std::string> obstacles() const;
  /// Why Slurm does not answer at the moment; empty if it answers.
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
  std::set<std::string> known_; ///< submissions named in marks
  QueueSnapshot look_;
  std::chrono::steady_clock::time_point looked_{};
};

} // namespace heed
