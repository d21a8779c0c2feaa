// Kinds of kernels: sets of instructions that the engine is compiled for. Results are the same bits on the same kind,
// so a run's manifest says which it was.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Config;

/// What the program itself was compiled for: "native" or another name of a CPU (-Dcpu); "baseline" in a portable build.
std::string own_kernels();

/// What `engine.kernels = "auto"` may be here, the fastest first: in a portable build "avx512" and "avx2", where this CPU
/// and the installation have them, and "baseline"; in others their own alone.
std::vector<std::string> usable_kernels();

/// Leaves of these what all of a team's processes have. The first that is left is the build's own where none would be.
void limit_kernels(const std::vector<std::vector<std::string>>& of_processes);

/// What nearly all machines like this one have: "avx2", where this one and the build have it, else the build's own.
std::string common_kernels();

/// Whether results are the same bits on every CPU that has these kernels: not of "native", which is another thing on
/// each, nor of "baseline", where BLAS multiplies and has kernels of its own for each.
bool same_on_every_cpu(std::string_view kernels);

/// Throws heed::Refused where this CPU does not have these instructions.
void require_cpu_for(std::string_view kernels);

/// What a configuration is computed by here: what `engine.kernels` names; else the first of `preferred` that is usable,
/// else the fastest. Throws heed::Refused where the configuration names what this CPU or this program doesn't have.
std::string kernels_of(const Config& config, const std::vector<std::string>& preferred = {});

} // namespace heed
