#include "experiments/command_line/build.hpp"

#include "autograd/kernels/gemm.hpp"
#include "experiments/command_line/build_info.hpp"

#include <fmt/format.h>

namespace heed {

Build this_build() { return {build_info::version, compiler_name(), build_info::flags, f32::product_description()}; }

std::string version_text() {
  return fmt::format("heed {} ({}, {})", build_info::version, compiler_name(), build_info::flags);
}

} // namespace heed
