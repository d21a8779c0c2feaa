// Loads libheed_float64.so, which lies beside the program. Where the launcher started the program, it builds the file
// first, or what has changed since.
#include "autograd/error.hpp"
#include "experiments/system/program.hpp"
#include "experiments/training/float64.hpp"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace heed {

namespace {

/// The launcher with the word that makes it build one target. Standard output is the command's, so the launcher's goes
/// to standard error.
bool build_with(const std::string& launcher) {
  const std::string program = launcher, word = "--build", target = "float64";
  char* words[] = {const_cast<char*>(program.c_str()), const_cast<char*>(word.c_str()),
                   const_cast<char*>(target.c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  int status = 0;
  const bool started = posix_spawn(&child, program.c_str(), &actions, nullptr, words, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started) return false;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const Engine& load() {
  const std::filesystem::path file = part_of_program("libheed_float64.so");
  if (const char* launcher = std::getenv("HEED_LAUNCHER"); launcher && *launcher) {
    const bool built = build_with(launcher);
    unsetenv("HEED_LAUNCHER"); // workers find the file as it is
    if (!built) throw Refused("precision = \"float64\": its part of the program could not be built (see above)");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    const bool built_here = std::filesystem::exists(file.parent_path() / "build.ninja", ignored);
    throw Refused(fmt::format(
        "precision = \"float64\": {} is missing\n      {}", file.string(),
        built_here ? fmt::format("start Heed by ./heed, which builds it, or build it: ninja -C {} libheed_float64.so",
                                 file.parent_path().string())
                   : "install Heed anew, with all of its parts: meson install"));
  }
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Door = const Engine* (*)();
  const auto door = module ? reinterpret_cast<Door>(dlsym(module, "heed_float64_engine")) : nullptr;
  if (!door) throw Refused(fmt::format("precision = \"float64\": {} can't be loaded: {}", file.string(), dlerror()));
  return *door();
}

} // namespace

const Engine& float64_engine() {
  static const Engine& engine = load();
  return engine;
}

} // namespace heed
