// What this program was built from and with.
#pragma once

#include <string>

namespace heed {

struct Build;

/// For manifests. Products and kernels are those of the program itself; a run's may be others.
Build this_build();

/// For `heed --version`: "heed 0.1.0 (gcc 12.2.0, -O2 -march=native; kernels native)".
std::string version_text();

} // namespace heed
