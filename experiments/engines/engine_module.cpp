#include "experiments/engines/engine_module.hpp"

#include "autograd/error.hpp"
#include "autograd/fork_safe.hpp"
#include "experiments/system/program.hpp"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace heed {

namespace {

std::string file_name(const std::string& part) { return fmt::format("libheed_{}.so", part); }

/// The launcher program, which builds missing libraries. Empty if this process was started without it.
std::string launcher() {
  const char* name = std::getenv("HEED_LAUNCHER");
  return name ? name : "";
}

/// Runs the launcher to build a library. Its standard output is redirected to standard error, because standard output
/// belongs to the command.
bool build_with(const std::string& launcher, const std::string& part) {
  std::string program = launcher, word = "--build", target = part;
  char* words[] = {program.data(), word.data(), target.data(), nullptr};
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

/// How to get a library that fits the program.
std::string how_to_build(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file.parent_path() / "build.ninja", ignored))
    return "install Heed anew, with all of its parts: meson install";
  return fmt::format("start Heed by ./heed, which builds it, or build it: ninja -C {} {}", file.parent_path().string(),
                     file.filename().string());
}

const Engine& load(const std::string& part, const std::string& asked_by) {
  const std::filesystem::path file = part_of_program(file_name(part));
  if (!is_open_part(file_name(part))) {
    if (!launcher().empty() && !build_with(launcher(), part))
      throw Refused(fmt::format("{}: its part of the program could not be built (see above)", asked_by));
    if (!is_program_in_place())
      throw Refused(fmt::format("{}: {} was built or installed anew since this Heed was started, and {} is no part of "
                                "the one that runs; start again",
                                asked_by, this_program().string(), file.string()));
  }
  const auto opened = open_part(file_name(part));
  if (!opened) throw Refused(fmt::format("{}: {} is missing\n      {}", asked_by, file.string(), how_to_build(file)));
  void* module = dlopen(opened->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  using Door = const Engine* (*)();
  const auto door = module ? reinterpret_cast<Door>(dlsym(module, "heed_engine")) : nullptr;
  if (!door) throw Refused(fmt::format("{}: {} can't be loaded: {}", asked_by, file.string(), dlerror()));
  using Interface = const char* (*)();
  const auto interface = reinterpret_cast<Interface>(dlsym(module, "heed_engine_interface"));
  if (!interface || std::string_view(interface()) != engine_interface())
    throw Refused(fmt::format("{}: {} was built from other sources than the program, and does not fit it\n      {}",
                              asked_by, file.string(), how_to_build(file)));
  return *door();
}

} // namespace

bool has_engine(const std::string& part) {
  std::error_code ignored;
  return !launcher().empty() || is_open_part(file_name(part)) ||
         std::filesystem::exists(part_of_program(file_name(part)), ignored);
}

const Engine& load_engine(const std::string& part, const std::string& asked_by) {
  static ForkSafe<std::map<std::string, const Engine*>> all;
  const auto loaded = all.lock(); // one thread at a time loads a part
  const Engine*& engine = (*loaded)[part];
  if (!engine) engine = &load(part, asked_by);
  return *engine;
}

} // namespace heed
