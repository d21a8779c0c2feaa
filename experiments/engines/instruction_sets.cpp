#include "experiments/engines/instruction_sets.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/engines/build_kernels.hpp"
#include "experiments/engines/engine_module.hpp"
#include "experiments/system/machine.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace heed {

namespace {

/// Whether the CPU has the instructions that meson.build enables for this instruction set, and the system saves their
/// registers.
bool cpu_has([[maybe_unused]] std::string_view kernels) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (kernels == "avx2") return avx2;
  if (kernels == "avx512")
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return true;
}

/// Whether this build has a separate library for this instruction set.
bool is_named(std::string_view kernels) {
  const std::string_view all = HEED_NAMED_KERNELS;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(' ', begin), all.size());
    if (all.substr(begin, end - begin) == kernels) return true;
    begin = end + 1;
  }
  return false;
}

std::optional<std::vector<std::string>>& limit() {
  static std::optional<std::vector<std::string>> of_process_group;
  return of_process_group;
}

bool has(const std::vector<std::string>& all, std::string_view kernels) { return std::ranges::count(all, kernels) > 0; }

} // namespace

std::string own_instruction_set() { return HEED_OWN_KERNELS; }

std::vector<std::string> usable_instruction_sets() {
  if (limit()) return *limit();
  std::vector<std::string> out;
  if constexpr (HEED_PORTABLE)
    for (const char* kernels : {"avx512", "avx2"})
      if (is_named(kernels) && cpu_has(kernels) && has_engine(fmt::format("float32_{}", kernels)))
        out.emplace_back(kernels);
  out.push_back(own_instruction_set());
  return out;
}

void limit_instruction_sets(const std::vector<std::vector<std::string>>& of_processes) {
  std::vector<std::string> left = usable_instruction_sets();
  for (const auto& others : of_processes)
    std::erase_if(left, [&](const std::string& kernels) {
      return kernels != own_instruction_set() && !has(others, kernels);
    });
  limit() = std::move(left);
}

std::string common_instruction_set() { return has(usable_instruction_sets(), "avx2") ? "avx2" : own_instruction_set(); }

bool same_on_every_cpu(std::string_view kernels) { return kernels != "native" && kernels != "baseline"; }

void require_cpu_for(std::string_view kernels) {
  if (cpu_has(kernels)) return;
  throw Refused(fmt::format("engine.kernels = \"{}\": this machine's CPU ({}) does not have these instructions; it has "
                            "{}",
                            kernels, this_machine().cpu, cpu_has("avx2") ? "avx2 and baseline" : "only baseline"));
}

std::string instruction_set_of(const Config& config, const std::vector<std::string>& preferred) {
  if (const std::string& wanted = config.engine.kernels; wanted != "auto") {
    require_cpu_for(wanted);
    if (wanted != own_instruction_set() && !is_named(wanted))
      throw Refused(fmt::format("engine.kernels = \"{}\" can't be had: this Heed was built for CPUs other than x86",
                                wanted));
    return wanted;
  }
  const std::vector<std::string> here = usable_instruction_sets();
  const auto first = std::ranges::find_if(preferred, [&](const std::string& kernels) { return has(here, kernels); });
  return first == preferred.end() ? here.front() : *first;
}

} // namespace heed
