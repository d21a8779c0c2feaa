// How and where a command prints its result: --format, --output and --force, the same in every command. The ending of a
// picture's file says its format. JSON for readers, with indentation, and the measurements of `heed inspect` as JSON.
#pragma once

#include "experiments/command_line/commands.hpp"
#include "experiments/system/user_file.hpp"
#include "experiments/training/training.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
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

/// The format that the name ends in: svg (also without an ending), pdf or png. Throws heed::Refused for another ending,
/// and if the program that makes pdf and png (rsvg-convert) is not installed.
std::string picture_format(const std::filesystem::path& file);

/// The picture in this format. Throws heed::Failed if it cannot be made.
std::string picture_in(const std::string& format, const std::string& svg);

/// JSON with line breaks, indentation and a final newline; lists of scalar values are on one line.
std::string indented(const boost::json::value& value);

/// A head is called localised if its mean attention distance, in positions, is below this bound.
inline constexpr double localised_below = 1.5;
bool is_localised(const HeadInspection& head);

/// {"heads": [...], "layers": [...], "modules": [...]}: an object for each of them, with the fields of HeadInspection,
/// LayerInspection and ModuleInspection, null where a value is unknown, and "localised" for heads.
boost::json::object inspection_json(const Inspection& found);

} // namespace heed
