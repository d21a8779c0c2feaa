#include "experiments/command_line/console.hpp"

#include "experiments/engines/mpi.hpp"

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace heed {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
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

} // namespace heed
