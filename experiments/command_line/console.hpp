// The output streams of a command and the terminal that they write to: its width, messages that fit it, and no control
// characters other than Heed's own.
#pragma once

#include "experiments/actions/diagnostics.hpp"
#include "experiments/report/style.hpp"

#include <cstddef>
#include <fmt/core.h>
#include <iosfwd>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// Results are written to `out`, progress and errors to `err`, so that results can be piped. For a command,
/// TerminalStream filters both. Results in machine-readable formats (JSON, CSV, TOML, paths, a model's text) are
/// written to `data`. It differs from `out` if there is no terminal: `data` then preserves every byte.
struct Console {
  std::ostream& out;
  std::ostream& err;
  Style out_style, err_style;   ///< coloured only on a terminal, and only if NO_COLOR is not set
  bool terminal = false;        ///< `out` is a terminal
  bool live = false;            ///< `err` is a terminal on which lines can be redrawn
  std::size_t width = 100;      ///< columns of that terminal
  std::string program = "heed"; ///< the name by which the user calls it: "./heed"
  bool of_process = false;      ///< `out` is this process's standard output
  std::ostream& data = out;
  std::vector<Diagnostic> notes = {}; ///< what `say` has said, for the envelope of JSON
  bool has_answered = false;          ///< whether the envelope is written
};

/// The console of this process, with the system's streams. command_line() later filters the streams for terminals.
/// `HEED_CALLED_AS`, which the launcher sets, is the program's name.
Console process_console(const char* program);

template <class... Values> void print(std::ostream& out, fmt::format_string<Values...> format, Values&&... values) {
  out << fmt::format(format, std::forward<Values>(values)...);
}

struct TerminalSize {
  std::size_t columns = 0, rows = 0; ///< 0: not a terminal, or of unknown size
};

TerminalSize terminal_size(int descriptor);

/// The maximum width of results; 0: unlimited, because they are written to a file or another program.
std::size_t results_width(const Console& console);

/// Writes to another stream, and fails if the other stream fails. Texts from files (names in a checkpoint, tokens,
/// errors) may contain control sequences. So a control sequence is only passed if the mark precedes it; Style::command
/// adds the mark. The mark is drawn at random when the program starts, so no file can contain it.
class TerminalStream : public std::ostream {
public:
  /// With an empty mark, no control sequence is passed.
  TerminalStream(std::ostream& to, std::string mark);
  /// Writes the bytes of an incomplete character.
  ~TerminalStream() override;
  TerminalStream(const TerminalStream&) = delete;
  TerminalStream& operator=(const TerminalStream&) = delete;

private:
  class Buffer : public std::streambuf {
  public:
    Buffer(std::ostream& to, std::string mark) : to_(to), mark_(std::move(mark)) {}
    bool finish();

  protected:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

  private:
    bool pass(std::string_view text);

    std::ostream& to_;
    std::string mark_;
    std::string unfinished_; ///< the first bytes of an incomplete character: a generated text is written in pieces
  };

  Buffer buffer_;
};

/// A random mark that cannot be predicted: a sequence that occupies no column. Empty if the system provides no random
/// numbers.
std::string terminal_mark();

/// Breaks each line of a message that is wider than `width` columns at spaces. New lines begin with the indentation of
/// their line; after the first line of the message, with six spaces. A line that begins with `program` is a command for
/// the user to copy and stays whole, and so does a word that is too wide. With a width of 0, nothing is broken.
/// @param before  columns that the caller prints before the message
std::string fitted(const std::string& message, std::size_t width, const std::string& program, std::size_t before = 0);

/// The same with the width of the terminal to which errors are written, and without the end of a text that no person
/// reads (system/text.hpp). Without a terminal, nothing is broken, so that
/// a message is one line in a log.
std::string fitted(const std::string& message, const Console& console, std::size_t before = 0);

/// Writes "heed: MESSAGE" to the console's stream of errors, with a line end, fitted to its terminal, and keeps it as a
/// note.
void say(Console& console, const std::string& message);

} // namespace heed
