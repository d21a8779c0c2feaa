// Slurm's programs, called so that what a user has set for himself does not change what they answer.
#pragma once

#include "experiments/system/child.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// run_child with the environment but for variables that stand for options of Slurm's programs which Heed gives itself, or
/// that change what they print (SQUEUE_FORMAT, SBATCH_ARRAY_INX, ...). Those that say where a user's jobs go stay:
/// SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_QOS and such, which words on the command line win over.
ChildResult run_slurm(const std::vector<std::string>& words, std::string_view input = {});

/// Whether Slurm's programs are to have this variable.
bool is_for_slurm(std::string_view variable);

} // namespace heed
