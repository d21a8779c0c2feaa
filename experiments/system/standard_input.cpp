#include "experiments/system/standard_input.hpp"

#include "autograd/error.hpp"

#include <fmt/format.h>
#include <iostream>

namespace heed {

std::string standard_input(std::size_t most) {
  constexpr std::size_t block = std::size_t{1} << 16;
  std::string bytes;
  do {
    if (bytes.size() > most)
      throw Refused(fmt::format(
          "standard input has more than {} MiB; write it to a file, which may be larger, and name that", most >> 20));
    const std::size_t before = bytes.size();
    bytes.resize(before + block);
    std::cin.read(bytes.data() + before, static_cast<std::streamsize>(block));
    bytes.resize(before + static_cast<std::size_t>(std::cin.gcount()));
  } while (std::cin);
  return bytes;
}

} // namespace heed
