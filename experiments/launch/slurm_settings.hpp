// A user's settings for a Slurm cluster. They do not affect results.
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

} // namespace heed
