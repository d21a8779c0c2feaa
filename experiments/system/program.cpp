#include "experiments/system/program.hpp"

#include <system_error>

namespace heed {

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::filesystem::path part_of_program(std::string_view file) {
  const std::filesystem::path folder = this_program().parent_path();
  std::error_code ignored;
  const std::filesystem::path installed = folder.parent_path() / "lib" / "heed" / file;
  return !std::filesystem::exists(folder / file, ignored) && std::filesystem::exists(installed, ignored)
             ? installed
             : folder / file;
}

} // namespace heed
