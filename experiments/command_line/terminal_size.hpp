// Queries the current size of a terminal.
#pragma once

#include "experiments/command_line/console.hpp"

#include <cstddef>

namespace heed {

struct TerminalSize {
  std::size_t columns = 0, rows = 0; ///< 0: not a terminal, or of unknown size
};

TerminalSize terminal_size(int descriptor);

/// The maximum width of results; 0: unlimited, because they are written to a file or another program.
std::size_t results_width(const Console& console);

} // namespace heed
