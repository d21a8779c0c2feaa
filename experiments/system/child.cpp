#include "experiments/system/child.hpp"

#include "autograd/error.hpp"
#include "experiments/system/descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Failed(fmt::format("no pipe can be had: {}", std::strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Makes a pipe end non-blocking, so that the processes do not wait for each other.
void never_wait(const Descriptor& end) { ::fcntl(end.get(), F_SETFL, O_NONBLOCK); }

/// Reads the available bytes, and closes the end at the end of the stream.
void read_some(Descriptor& end, std::string& into) {
  char block[4096];
  const ::ssize_t n = ::read(end.get(), block, sizeof block);
  if (n > 0) into.append(block, static_cast<std::size_t>(n));
  else if (n == 0 || (errno != EAGAIN && errno != EINTR)) end = Descriptor();
}

void write_some(Descriptor& end, std::string_view& rest) {
  const ::ssize_t n = rest.empty() ? 0 : ::write(end.get(), rest.data(), rest.size());
  if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
  if (rest.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) end = Descriptor();
}

/// Ignores SIGPIPE: a program that ends before it has read all its input must not kill this process.
class NoPipeSignal {
public:
  NoPipeSignal() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~NoPipeSignal() { std::signal(SIGPIPE, before_); }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

private:
  void (*before_)(int);
};

int wait_for(::pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int by_signal = 128;
  return WIFSIGNALED(status) ? by_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

ChildResult run_child(const std::vector<std::string>& words, std::string_view input, std::chrono::seconds most,
                      const std::function<bool(std::string_view)>& hands_on) {
  ChildResult result;
  const NoPipeSignal quiet;
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  ::posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in.read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, err.write.get(), STDERR_FILENO);
  std::vector<std::string> texts = words;
  const std::vector<char*> pointers = pointers_to(texts);
  std::vector<char*> variables;
  for (char** entry = environ; *entry; ++entry)
    if (const std::string_view text = *entry; !hands_on || hands_on(text.substr(0, text.find('='))))
      variables.push_back(*entry);
  variables.push_back(nullptr);
  ::pid_t process = 0;
  const int error = ::posix_spawnp(&process, pointers.front(), &files, nullptr, pointers.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&files);
  if (error == ENOENT || error == EACCES) {
    result.found = false;
    return result;
  }
  if (error != 0) throw Failed(fmt::format("cannot start '{}': {}", words.front(), std::strerror(error)));
  in.read = Descriptor();
  out.write = Descriptor();
  err.write = Descriptor();
  for (const Descriptor* end : {&in.write, &out.read, &err.read}) never_wait(*end);

  const auto until = Clock::now() + most;
  while (out.read.get() >= 0 || err.read.get() >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) {
      result.in_time = false;
      ::kill(process, SIGKILL);
      break;
    }
    std::array<::pollfd, 3> ends{
        {{in.write.get(), POLLOUT, 0}, {out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
    if (::poll(ends.data(), ends.size(), static_cast<int>(std::min<long>(left, 1000))) < 0 && errno != EINTR) break;
    if (ends[0].revents != 0) write_some(in.write, input);
    if (ends[1].revents != 0) read_some(out.read, result.out);
    if (ends[2].revents != 0) read_some(err.read, result.err);
  }
  in.write = Descriptor();
  result.status = wait_for(process);
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

bool has_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = fmt::format("{}/{}", rest.substr(0, end), name);
    if (::access(file.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

} // namespace heed
