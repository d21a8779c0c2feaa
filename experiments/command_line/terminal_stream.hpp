// The way to a terminal: what is written passes as without_controls() has it, except for Heed's own commands.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace heed {

/// Writes to another stream, and fails where that fails. Texts of files (names in a checkpoint, tokens, failures) may
/// hold anything, so a command to the terminal passes only where the mark stands before it: Style::command puts it
/// there. The mark is drawn when the program starts, so that no file can hold it.
class TerminalStream : public std::ostream {
public:
  /// An empty mark: no command passes.
  TerminalStream(std::ostream& to, std::string mark);
  /// Writes the bytes of a character that was never finished.
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
    std::string unfinished_; ///< the first bytes of a character: a generated text comes in pieces
  };

  Buffer buffer_;
};

/// A mark that nobody can know: a sequence that takes no column. Empty where the system gives no random numbers.
std::string terminal_mark();

} // namespace heed
