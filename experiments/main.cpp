// The program: hands the command line to the commands.
#include "experiments/command_line/command_line.hpp"
#include "experiments/system/program.hpp"

#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace {

/// OpenBLAS makes threads as soon as it is loaded, unless its environment says otherwise. Heed has threads of its own,
/// and OpenBLAS's wait for ever where their memory can't be had. Heed loads it when it needs it, and then it finds this.
/// Where something had it loaded before, and nobody said so (as `./heed` and the sweep's launcher do), the program starts
/// once more.
void without_threads_of_blas(char** words) {
  constexpr const char* variable = "OPENBLAS_NUM_THREADS";
  if (std::getenv(variable)) return;
  setenv(variable, "1", 1);
  if (!dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) return;
  execv(heed::this_program().c_str(), words); // where that fails, everything goes on but for the above
}

} // namespace

int main(int count, char** words) {
  without_threads_of_blas(words);
  std::signal(SIGXFSZ, SIG_IGN); // a file that grows past a limit is an error with a message
  heed::Console console = heed::process_console(count > 0 ? words[0] : "heed");
  return heed::command_line({words + (count > 0 ? 1 : 0), words + count}, console);
}
