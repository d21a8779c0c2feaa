// Where a command writes, and what it may use there.
#pragma once

#include "experiments/report/style.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>

namespace heed {

/// Results go to `out`; progress and errors to `err`, so that results can be piped. What a command gets passes both as
/// TerminalStream has it. Results in a format for programs (JSON, CSV, TOML, paths, a model's text) go to `data`, which
/// differs from `out` where no terminal is: there every byte stays as it is.
struct Console {
  std::ostream& out;
  std::ostream& err;
  Style out_style, err_style;   ///< coloured only on a terminal, and not where NO_COLOR is set
  bool terminal = false;        ///< `out` is a terminal
  bool live = false;            ///< `err` is a terminal on which lines can be drawn again
  std::size_t width = 100;      ///< columns of that terminal
  std::string program = "heed"; ///< as the user calls it: "./heed"
  bool of_process = false;      ///< `out` is this process's standard output
  std::ostream& data = out;
};

/// This process's own, as the system has it: command_line() has the streams pass texts as a terminal may have them. `HEED_CALLED_AS`, which the launcher sets, names the program.
Console process_console(const char* program);

} // namespace heed
