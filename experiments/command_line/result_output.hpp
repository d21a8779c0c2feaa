// How and where a command prints its result: --format, --output and --force, the same in every command.
#pragma once

#include "experiments/actions/diagnostics.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/report/described_json.hpp"
#include "experiments/system/user_file.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <span>
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

/// The format that the options choose. Throws heed::Refused if they name several.
/// @param command   its name, for messages
/// @param fallback  the format if none is given
std::string chosen_format(const std::string& command, const ResultOptions& options, std::string_view fallback);

/// Adds the options. @param formats  what the command prints, first the default; --json and --csv are short for two
void add_result_options(Command& command, ResultOptions& options, const std::vector<std::string>& formats);

/// Adds --format and --json for a command that writes files of its own.
void add_json_option(Command& command, ResultOptions& options);

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
  /// Writes the result as JSON: to a file as it is, to standard output within the envelope.
  /// @param status  the exit status with which the command will end
  template <class Result> void write_result(const Result& result, Console& console, int status = 0) {
    write_json(described::value_of(result), console, status);
  }

private:
  void write_json(boost::json::value result, Console& console, int status);

  std::string command_;
  std::string format_;
  std::optional<UserFile> file_; ///< empty: standard output
};

/// What every command says in JSON:
///     {"heed": VERSION, "command": NAME, "status": EXIT STATUS, "result": ... or null, "diagnostics": [...]}
/// @param result  null if there is none, because the command failed
boost::json::object envelope(const std::string& command, int status, boost::json::value result,
                             std::span<const Diagnostic> diagnostics);

/// JSON on one line, with a line end. Bytes of texts that are not UTF-8 are escaped.
std::string json_line(boost::json::value value);

/// Whether the arguments of a command ask for JSON: --json, --format json.
bool asks_for_json(std::span<const std::string> arguments);

} // namespace heed
