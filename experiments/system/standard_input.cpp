#include "experiments/system/standard_input.hpp"

#include "autograd/error.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

namespace heed {

std::string standard_input(std::size_t most) {
  constexpr std::size_t block = std::size_t{1} << 16;
  std::string bytes;
  for (;;) {
    if (bytes.size() > most)
      throw Refused(fmt::format(
          "standard input has more than {} MiB; write it to a file, which may be larger, and name that", most >> 20));
    const std::size_t before = bytes.size();
    bytes.resize(before + block);
    const ssize_t got = ::read(STDIN_FILENO, bytes.data() + before, block);
    bytes.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) return bytes;
    if (got < 0 && errno != EINTR)
      throw Refused(fmt::format("standard input can't be read: {}", std::generic_category().message(errno)));
  }
}

} // namespace heed
