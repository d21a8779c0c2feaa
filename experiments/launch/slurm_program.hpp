// Calls Slurm's programs so that a user's own environment settings do not change their output.
#pragma once

#include "experiments/system/child.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// run_child without the environment variables that replace options which Heed sets itself, or that change the output
/// (SQUEUE_FORMAT, SBATCH_ARRAY_INX, ...). Variables that say where a user's jobs run stay: SBATCH_ACCOUNT,
/// SBATCH_PARTITION, SBATCH_QOS and similar. Arguments on the command line take precedence over them.
ChildResult run_slurm(const std::vector<std::string>& words, std::string_view input = {});

/// Whether Slurm's programs get this environment variable.
bool is_for_slurm(std::string_view variable);

} // namespace heed
