// How large a terminal is right now.
#pragma once

#include "experiments/command_line/console.hpp"

#include <cstddef>

namespace heed {

struct TerminalSize {
  std::size_t columns = 0, rows = 0; ///< 0: not a terminal, or one that doesn't say
};

TerminalSize terminal_size(int descriptor);

/// Columns that results may take: 0, as many as they like, where they go to a file or another program.
std::size_t results_width(const Console& console);

} // namespace heed
