#include "experiments/command_line/terminal_size.hpp"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace heed {

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

} // namespace heed
