// What a user tells Heed of a Slurm cluster. None of it can change what a run comes to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The table [slurm] of a user's file.
struct SlurmSettings {
  std::string account, partition, qos; ///< as sbatch takes them; empty: the cluster's default
  std::string time;                    ///< a task's limit, as sbatch takes it; empty: from the plan's estimate
  std::string memory;                  ///< of a task, "4G"; empty: from the plan's estimate
  std::int64_t cpus = 0;               ///< of a task, which are its runs' threads; 0: as the configuration says, or 1
  std::int64_t at_once = 0;            ///< tasks at a time; 0: as many as the cluster allows
  double task_minutes = 10;            ///< runs that take less are packed until a task takes about this long
  std::vector<std::string> options;    ///< further words for sbatch: "--constraint=avx512"
};

/// One option of it, for messages and help.
struct SlurmOption {
  std::string_view name, meaning;
};
const std::vector<SlurmOption>& slurm_options();

/// The file that is read where none is named: heed/slurm.toml in $XDG_CONFIG_HOME, or in ~/.config.
std::filesystem::path usual_slurm_file();

/// The file's [slurm], then what the command line sets ("slurm.partition=short"), which wins.
/// @param file  nothing: the usual one, where it is there
/// Throws heed::Refused: where, what is wrong and what is allowed.
SlurmSettings read_slurm_settings(const std::optional<std::filesystem::path>& file,
                                  const std::vector<std::string>& overrides);

/// Seconds of a time as sbatch takes it: minutes, M:S, H:M:S, D-H, D-H:M or D-H:M:S; none where it isn't one, or has no
/// end (UNLIMITED).
std::optional<double> seconds_of_slurm_time(std::string_view time);
/// Whole minutes as sbatch takes them, rounded up: "1-02:03:00".
std::string slurm_time(double seconds);

} // namespace heed
