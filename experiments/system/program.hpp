// This program's own file.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed {

/// The file that this process runs: to start workers from, and to find what lies beside it.
std::filesystem::path this_program();

/// A part of the program that is loaded when it is needed: beside the program in a build folder, in ../lib/heed where it
/// was installed. A path beside the program where there is none.
std::filesystem::path part_of_program(std::string_view file);

} // namespace heed
