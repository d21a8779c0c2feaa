// Where a command writes, and what it may use there.
#pragma once

#include "experiments/report/style.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>

namespace heed {

/// Results go to `out`; progress and errors to `err`, so that results can be piped.
struct Console {
  std::ostream& out;
  std::ostream& err;
  Style out_style, err_style;   ///< coloured only on a terminal, and not where NO_COLOR is set
  bool live = false;            ///< `err` is a terminal on which lines can be drawn again
  std::size_t width = 100;      ///< columns of that terminal
  std::string program = "heed"; ///< as the user calls it: "./heed"
};

/// This process's own. `HEED_CALLED_AS`, which the launcher sets, names the program.
Console process_console(const char* program);

} // namespace heed
