// The main function: passes the command line to the commands.
#include "experiments/command_line/command_line.hpp"

#include <csignal>

int main(int count, char** words) {
  std::signal(SIGXFSZ, SIG_IGN); // so that exceeding the file size limit gives an error message
  heed::Console console = heed::process_console(count > 0 ? words[0] : "heed");
  return heed::command_line({words + (count > 0 ? 1 : 0), words + count}, console);
}
