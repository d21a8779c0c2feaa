// This program's own file, and its parts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The path of the file that this process runs, also where another has taken its place since: to be told to people and to
/// other machines, and to find what lies beside it.
std::filesystem::path this_program();

/// By this path, the very file that this process runs is started, whatever lies at this_program() by then.
inline constexpr const char* running_program = "/proc/self/exe";

/// Whether this_program() is still the file that this process runs: else it was built or installed anew since, and so
/// were its parts.
bool is_program_in_place();

/// A part of the program that is loaded when it is needed: beside the program in a build folder, in ../lib/heed where it
/// was installed. A path beside the program where there is none.
std::filesystem::path part_of_program(std::string_view file);

/// A part that is open: from then on, it is the same file for this process and for those that it hands it to, whatever
/// lies at its path.
struct OpenPart {
  std::string file; ///< as of part_of_program
  int descriptor = -1;
  /// To load it by.
  std::filesystem::path path() const;
};
/// Opens the part, unless it is open. None where it is missing.
std::optional<OpenPart> open_part(const std::string& file);
/// Takes a part that the process which started this one had open.
void take_part(const OpenPart& part);
/// Those that are open now.
std::vector<OpenPart> open_parts();
bool is_open_part(const std::string& file);

} // namespace heed
