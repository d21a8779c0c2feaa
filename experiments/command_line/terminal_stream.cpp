#include "experiments/command_line/terminal_stream.hpp"

#include "experiments/config/values.hpp"
#include "experiments/system/utf8.hpp"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <sys/random.h>

namespace heed {

namespace {

/// The length in bytes of the control sequence at the beginning of the text: a carriage return, or ESC [ ... up to a
/// letter.
std::size_t command_length(std::string_view text) {
  if (text.starts_with('\r')) return 1;
  if (!text.starts_with("\033[")) return 0;
  const std::size_t last = text.find_first_not_of("0123456789;", 2);
  return last == std::string_view::npos ? text.size() : last + 1;
}

} // namespace

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

} // namespace heed
