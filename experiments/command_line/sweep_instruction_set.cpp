#include "experiments/command_line/sweep_instruction_set.hpp"

#include "experiments/engines/instruction_sets.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

std::string instruction_set_to_pin(bool on_other_machines) {
  if (usable_instruction_sets().size() == 1) return {};
  return on_other_machines ? common_instruction_set() : usable_instruction_sets().front();
}

std::string instruction_set_in_words(const Preparation& prepared, const std::string& pinned, bool on_other_machines) {
  const auto chooses = [](const PreparedArm& arm) { return arm.config.engine.kernels == "auto"; };
  if (std::ranges::none_of(prepared.arms, chooses)) return {};
  const std::string here = pinned.empty() ? own_instruction_set() : pinned;
  if (on_other_machines && here == "native")
    return "kernels: those of this build, for CPUs like this machine's; on other CPU models, results may differ in the "
           "last bits, or\n      the program may crash (illegal instruction). A build with -Dcpu=portable has kernels "
           "for all CPUs";
  if (on_other_machines && here == "baseline")
    return "kernels: baseline, in which BLAS multiplies as it does on each CPU, so different CPU models can give "
           "different bits";
  if (on_other_machines && !pinned.empty())
    return fmt::format("kernels: {} on every node, so results are bit-identical", pinned);
  if (!pinned.empty() && std::ranges::count(usable_instruction_sets(), pinned) == 0)
    return fmt::format("kernels: the sweep was started with {}, which this machine does not have; runs here use {}, so "
                       "their bits can differ",
                       pinned, usable_instruction_sets().front());
  return {};
}

} // namespace heed
