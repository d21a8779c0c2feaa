// What this program was built from and with.
#pragma once

#include <string>

namespace heed {

struct Build;

/// For manifests.
Build this_build();

/// For `heed --version`: "heed 0.1.0 (gcc 12.2.0, -O2 -march=native)".
std::string version_text();

} // namespace heed
