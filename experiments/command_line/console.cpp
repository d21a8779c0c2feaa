#include "experiments/command_line/console.hpp"

#include "experiments/config/values.hpp"
#include "experiments/engines/mpi.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

namespace heed {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The length in bytes of the control sequence at the beginning of the text: a carriage return, or ESC [ ... up to a
/// letter.
std::size_t command_length(std::string_view text) {
  if (text.starts_with('\r')) return 1;
  if (!text.starts_with("\033[")) return 0;
  const std::size_t last = text.find_first_not_of("0123456789;", 2);
  return last == std::string_view::npos ? text.size() : last + 1;
}

/// Appends a line of a message without its indentation. @param used  columns before the line
void append_fitted(std::string& out, std::string_view line, std::size_t used, const std::string& indent,
                   std::size_t width) {
  bool at_start = true;
  while (!line.empty()) {
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', spaces), line.size());
    const std::string word(line.substr(spaces, end - spaces));
    const std::size_t wide = display_width(word);
    if (!at_start && !word.empty() && used + spaces + wide > width) {
      out += fmt::format("\n{}{}", indent, word);
      used = indent.size() + wide;
    } else {
      out += std::string(spaces, ' ') + word;
      used += spaces + wide;
    }
    at_start = false;
    line.remove_prefix(end);
  }
}

} // namespace

Console process_console(const char* program) {
  const bool dumb = environment("TERM").empty() || environment("TERM") == "dumb";
  const bool colour = environment("NO_COLOR").empty() && !dumb;
  Console console{std::cout, std::cerr, {}, {}};
  console.of_process = true;
  console.terminal = isatty(STDOUT_FILENO);
  // mpirun gives its processes a terminal as their output, even if its own output is not a terminal.
  console.out_style.colour = colour && isatty(STDOUT_FILENO) && processes_of_mpi() == 1;
  console.err_style.colour = colour && isatty(STDERR_FILENO);
  console.live = isatty(STDERR_FILENO) && !dumb;
  winsize size{};
  if (console.live && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) console.width = size.ws_col;
  const std::string_view called = environment("HEED_CALLED_AS");
  console.program = called.empty() ? program : called;
  return console;
}

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  if (!isatty(descriptor) || ioctl(descriptor, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_col, size.ws_row};
}

std::size_t results_width(const Console& console) {
  constexpr std::size_t least = 40;
  const std::size_t columns = console.of_process ? terminal_size(STDOUT_FILENO).columns : 0;
  return columns == 0 ? 0 : std::max(columns, least);
}

TerminalStream::TerminalStream(std::ostream& to, std::string mark)
    : std::ostream(nullptr), buffer_(to, std::move(mark)) {
  rdbuf(&buffer_);
}

TerminalStream::~TerminalStream() { buffer_.finish(); }

bool TerminalStream::Buffer::pass(std::string_view text) {
  std::string whole;
  if (!unfinished_.empty()) {
    whole = std::exchange(unfinished_, {}).append(text);
    text = whole;
  }
  const std::size_t unfinished = unfinished_utf8(text);
  unfinished_ = text.substr(text.size() - unfinished);
  text.remove_suffix(unfinished);
  std::string out;
  while (!text.empty()) {
    const std::size_t marked = mark_.empty() ? std::string_view::npos : text.find(mark_);
    out += without_controls(text.substr(0, marked));
    if (marked == std::string_view::npos) break;
    text.remove_prefix(marked + mark_.size());
    const std::size_t length = command_length(text);
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  to_ << out;
  return static_cast<bool>(to_);
}

bool TerminalStream::Buffer::finish() {
  to_ << without_controls(std::exchange(unfinished_, {}));
  return sync() == 0;
}

TerminalStream::Buffer::int_type TerminalStream::Buffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  return pass({&one, 1}) ? c : traits_type::eof();
}

std::streamsize TerminalStream::Buffer::xsputn(const char* text, std::streamsize size) {
  return pass({text, static_cast<std::size_t>(size)}) ? size : 0;
}

int TerminalStream::Buffer::sync() { return to_.flush() ? 0 : -1; }

std::string terminal_mark() {
  std::array<std::uint64_t, 2> drawn{};
  if (::getrandom(drawn.data(), sizeof drawn, 0) != static_cast<::ssize_t>(sizeof drawn)) return {};
  return fmt::format("\033[{};{}m", drawn[0], drawn[1]);
}

std::string fitted(const std::string& message, std::size_t width, const std::string& program, std::size_t before) {
  if (width == 0) return message;
  std::string out;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    const std::string_view line = std::string_view(message).substr(begin, end - begin);
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view words = line.substr(spaces);
    if (begin > 0) out += '\n';
    out += line.substr(0, spaces);
    if (words.starts_with(program + " ")) out += words;
    else
      append_fitted(out, words, spaces + (begin == 0 ? before : 0), std::string(begin == 0 ? 6 : spaces, ' '), width);
    begin = end + 1;
  }
  return out;
}

std::string fitted(const std::string& message, const Console& console, std::size_t before) {
  // Ten lines of a configuration, each with some of its text, are far shorter.
  return fitted(cut(message, 4 * longest_message), console.live ? console.width : 0, console.program, before);
}

void say(Console& console, const std::string& message) {
  console.err << fitted("heed: " + message, console) << "\n";
  std::string_view text = message;
  for (const std::string_view kind : {"note: ", "warning: "})
    if (text.starts_with(kind)) text.remove_prefix(kind.size());
  console.notes.push_back(diagnostic_of(text, Severity::note));
}

} // namespace heed
