#include "experiments/launch/slurm_program.hpp"

#include <algorithm>
#include <chrono>

namespace heed {

bool is_for_slurm(std::string_view variable) {
  // All variables of these programs are removed, because Heed passes all options that they need.
  constexpr std::string_view programs[] = {"SQUEUE_", "SACCT_", "SCONTROL_", "SINFO_"};
  constexpr std::string_view others[] = {
      // Variables that conflict with Heed's own arguments or its tasks: the array's tasks and names, outputs,
      // requeuing, signals, environment, and waiting.
      "SBATCH_ARRAY_INX", "SBATCH_BATCH", "SBATCH_CLUSTERS", "SBATCH_CPUS_PER_TASK", "SBATCH_DEBUG", "SBATCH_ERROR",
      "SBATCH_EXPORT", "SBATCH_IGNORE_PBS", "SBATCH_INPUT", "SBATCH_JOB_NAME", "SBATCH_NO_REQUEUE", "SBATCH_OPEN_MODE",
      "SBATCH_OUTPUT", "SBATCH_REQUEUE", "SBATCH_SIGNAL", "SBATCH_WAIT", "SLURM_EXPORT_ENV", "SLURM_OPEN_MODE",
      // Variables that change how Slurm's programs print and exit.
      "SLURM_BITSTR_LEN", "SLURM_CONF_OUT", "SLURM_DEBUG_FLAGS", "SLURM_EXIT_ERROR", "SLURM_TIME_FORMAT",
      "SLURM_TOPO_LEN"};
  return std::ranges::none_of(programs, [&](std::string_view prefix) { return variable.starts_with(prefix); }) &&
         std::ranges::find(others, variable) == std::end(others);
}

ChildResult run_slurm(const std::vector<std::string>& words, std::string_view input) {
  return run_child(words, input, std::chrono::seconds(60), is_for_slurm);
}

} // namespace heed
