// An output stream for terminals: removes control characters (without_controls()), except Heed's own control sequences.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace heed {

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

} // namespace heed
