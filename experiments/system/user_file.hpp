// A file for results whose name the user chose, such as the file of a report. What stands there already is not lost by
// mistake.
#pragma once

#include "experiments/system/files.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// When a regular file that exists is replaced.
struct Replacing {
  /// Whether a file with this beginning is one that the caller wrote earlier, so that writing it anew loses nothing.
  bool (*is_own)(std::string_view beginning);
  bool force = false;                  ///< also any other file
  std::string_view option = "--force"; ///< how the user says `force`, for messages
};

/// The constructor decides what `write` will do, so that a refusal comes before any work:
///
/// | there                                     | then                                                            |
/// |-------------------------------------------|-----------------------------------------------------------------|
/// | nothing                                   | a new file                                                      |
/// | a regular file                            | replaced if `Replacing` allows it; keeps owner and permissions  |
/// | /dev/stdout, /dev/fd/N                    | written into this process's open file                           |
/// | a pipe with a reader, a character device  | opened, and written through                                     |
/// | a link                                    | what it leads to; the link stays                                |
/// | anything else, a link to nothing          | refused                                                         |
class UserFile {
public:
  /// Throws heed::Refused, which says what stands there.
  UserFile(std::filesystem::path path, Replacing replacing);

  /// Writes the whole content. A regular file is replaced whole or stays as it was; it is not replaced if it changed
  /// since the constructor looked. Throws heed::Failed. While a reader makes it wait, it calls the function of the
  /// caller's PollScope.
  void write(std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }
  /// False for pipes, devices and open files: nothing was written that can be opened by its name.
  bool is_file() const { return is_file_; }
  /// Bytes for it can be commands.
  bool is_terminal() const;

private:
  void look_at_file(const Replacing& replacing);
  void open_through(bool pipe);
  void write_through(std::string_view bytes);

  std::filesystem::path path_, target_; ///< as the user wrote it, and without links
  std::optional<FileIdentity> found_;   ///< the regular file to replace
  Descriptor through_;                  ///< a pipe, a device or an open file, until it is written
  bool is_file_ = true;
};

/// Writes texts to files in a folder that the user named. All files are decided on before the first is written.
void write_user_files(const std::filesystem::path& folder,
                      const std::vector<std::pair<std::string, std::string>>& texts, const Replacing& replacing);

} // namespace heed
