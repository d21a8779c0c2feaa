#include "experiments/system/program.hpp"

namespace heed {

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

} // namespace heed
