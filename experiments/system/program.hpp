// The file of the running program, and the modules that it loads.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Names the file of the program, for a process that executes another file: a Python interpreter with Heed's library.
/// The functions below are then about this file. Throws heed::Failed if it cannot be opened. Call it before the others.
void set_program(const std::filesystem::path& file);

/// The path of the file that this process executes, even if the file was replaced since. It is for messages, for other
/// machines, and for finding files beside it.
std::filesystem::path this_program();

/// Starting this path executes the same file as this process, even if this_program() was replaced.
std::filesystem::path running_program();

/// Whether this_program() is still the file that this process executes. If not, the program and its modules were
/// rebuilt or reinstalled since.
bool is_program_in_place();

/// The path of a module that is loaded on demand: beside the program in a build folder, in ../lib/heed if installed. If
/// the module does not exist, a path beside the program.
std::filesystem::path part_of_program(std::string_view file);

/// An open module. It stays the same file for this process and for its child processes, even if the file at its path is
/// replaced.
struct OpenPart {
  std::string file; ///< as in part_of_program
  int descriptor = -1;
  /// The path for loading it.
  std::filesystem::path path() const;
};
/// Opens the module, unless it is already open. None if it is missing.
std::optional<OpenPart> open_part(const std::string& file);
/// Registers a module that the parent process opened.
void take_part(const OpenPart& part);
/// The modules that are open now.
std::vector<OpenPart> open_parts();
bool is_open_part(const std::string& file);

} // namespace heed
