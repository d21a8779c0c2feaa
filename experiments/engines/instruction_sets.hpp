// The instruction sets for which the engine is compiled. Results are bit-identical on the same instruction set, so a
// run's manifest records it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Config;

/// The instruction set of the program itself: "native" or another CPU name (-Dcpu); "baseline" in a portable build.
std::string own_instruction_set();

/// The candidates for `engine.kernels = "auto"` on this machine, fastest first. In a portable build: "avx512" and
/// "avx2", if this CPU and the installation support them, and "baseline". In other builds: only the build's own.
std::vector<std::string> usable_instruction_sets();

/// Restricts the candidates to those that all processes of a group have. If none remains, the build's own instruction
/// set is the only candidate.
void limit_instruction_sets(const std::vector<std::vector<std::string>>& of_processes);

/// The instruction set that nearly all similar machines support: "avx2" if this machine and the build support it, else
/// the build's own.
std::string common_instruction_set();

/// Whether results are bit-identical on every CPU with this instruction set. False for "native", which differs between
/// machines. False for "baseline" if BLAS computes matrix products, because BLAS chooses its own code for each CPU.
bool same_on_every_cpu(std::string_view kernels);

/// Throws heed::Refused if this CPU does not have these instructions.
void require_cpu_for(std::string_view kernels);

/// The instruction set for a configuration on this machine: the one that `engine.kernels` names; else the first of
/// `preferred` that is usable; else the fastest. Throws heed::Refused if the configuration names one that this CPU or
/// this program does not have.
std::string instruction_set_of(const Config& config, const std::vector<std::string>& preferred = {});

} // namespace heed
