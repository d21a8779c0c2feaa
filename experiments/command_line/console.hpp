// The output streams of a command, and the capabilities of the terminal.
#pragma once

#include "experiments/report/style.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>

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
};

/// The console of this process, with the system's streams. command_line() later filters the streams for terminals.
/// `HEED_CALLED_AS`, which the launcher sets, is the program's name.
Console process_console(const char* program);

} // namespace heed
