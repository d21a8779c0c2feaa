// How and where a command prints its result: --format, --output and --force, the same in every command.
#pragma once

#include "experiments/command_line/commands.hpp"
#include "experiments/system/user_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The values of the options.
struct ResultOptions {
  std::string format; ///< empty: not given
  std::string file;   ///< of --output; empty: not given
  bool json = false, csv = false, force = false;
};

/// Adds the options. @param formats  what the command prints, first the default; --json and --csv are short for two
void add_result_options(Command& command, ResultOptions& options, const std::vector<std::string>& formats);

/// The place for the result of a command. The constructor refuses what cannot be, before any work.
class ResultOutput {
public:
  /// @param command  its name, for messages
  /// @param fallback the format that is printed if none is given; "terminal" is printed for people, and never written
  ResultOutput(const std::string& command, const ResultOptions& options, std::string_view fallback = "terminal",
               bool (*is_own)(std::string_view beginning) = nullptr);

  const std::string& format() const { return format_; }
  bool is(std::string_view format) const { return format_ == format; }
  /// Writes the whole result to the file, whose name it prints, or to standard output.
  void write(std::string_view text, Console& console);

private:
  std::string format_;
  std::optional<UserFile> file_; ///< empty: standard output
};

} // namespace heed
