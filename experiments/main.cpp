// The program: hands the command line to the commands.
#include "experiments/command_line/command_line.hpp"

#include <csignal>

int main(int count, char** words) {
  std::signal(SIGXFSZ, SIG_IGN); // a file that grows past a limit is an error with a message
  heed::Console console = heed::process_console(count > 0 ? words[0] : "heed");
  return heed::command_line({words + (count > 0 ? 1 : 0), words + count}, console);
}
