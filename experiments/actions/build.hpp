// The program's version and build: compiler, options and libraries.
#pragma once

#include <string>

namespace heed {

struct Build;

/// The build, for manifests. Matrix library and instruction set are the program's defaults; a run may use others.
Build this_build();

/// For `heed --version`: "heed 0.2.0 (gcc 12.2.0, -O2 -march=native; kernels native)".
std::string version_text();

} // namespace heed
