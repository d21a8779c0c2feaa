#include "experiments/actions/build.hpp"

#include "autograd/products.hpp"
#include "experiments/actions/build_info.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/runs/run_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {

namespace {

/// "gcc 12.2.0", "clang 14.0.6"
std::string compiler_name() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

} // namespace

Build this_build() {
  return {build_info::version, compiler_name(), build_info::flags, f32::product_description(), own_instruction_set()};
}

std::string version_text() {
  return fmt::format("heed {} ({}, {}; kernels {})", build_info::version, compiler_name(), build_info::flags,
                     fmt::join(usable_instruction_sets(), ", "));
}

} // namespace heed
