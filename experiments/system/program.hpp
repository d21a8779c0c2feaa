// This program's own file.
#pragma once

#include <filesystem>

namespace heed {

/// The file that this process runs: to start workers from, and to find what lies beside it.
std::filesystem::path this_program();

} // namespace heed
