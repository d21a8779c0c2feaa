// Launches workers on a cluster, through Slurm's queue.
#pragma once

#include "experiments/launch/launcher.hpp"
#include "experiments/launch/slurm_queue.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The table [slurm] of a user's file.
struct SlurmSettings {
  std::string account, partition, qos; ///< as for sbatch; empty: the cluster's default
  std::string time;                    ///< time limit of a task, as for sbatch; empty: from the plan's estimate
  std::string memory;                  ///< of a task, "4G"; empty: from the plan's estimate
  std::int64_t cpus = 0;               ///< of a task, and threads of its runs; 0: as in the configuration, or 1
  std::int64_t at_once = 0;            ///< maximum of tasks that run at once; 0: the cluster's limit
  double task_minutes = 10;            ///< shorter runs are packed until a task takes about this time
  std::vector<std::string> options;    ///< further arguments of sbatch: "--constraint=avx512"
};

/// One option of [slurm], for messages and help.
struct SlurmOption {
  std::string_view name, meaning;
};
const std::vector<SlurmOption>& slurm_options();

/// The default file: heed/slurm.toml in $XDG_CONFIG_HOME, or in ~/.config.
std::filesystem::path usual_slurm_file();

/// Reads the file's [slurm], then applies the command line's settings ("slurm.partition=short"), which take precedence.
/// Throws heed::Refused, and says where the error is, what is wrong and what is allowed.
/// @param file  none: the default file, if it exists
SlurmSettings read_slurm_settings(const std::optional<std::filesystem::path>& file,
                                  const std::vector<std::string>& overrides);

/// Converts a time in sbatch's format to seconds: minutes, M:S, H:M:S, D-H, D-H:M or D-H:M:S. None if it is not a time,
/// or if it is unlimited (UNLIMITED).
std::optional<double> seconds_of_slurm_time(std::string_view time);
/// A time in sbatch's format, rounded up to whole minutes: "1-02:03:00".
std::string slurm_time(double seconds);

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
