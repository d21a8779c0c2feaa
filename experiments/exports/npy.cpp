// Writes arrays as NumPy's .npy files, which numpy.load(FILE) reads.
#include "experiments/exports/export.hpp"

#include "autograd/error.hpp"

#include <bit>
#include <fmt/format.h>

namespace heed {

namespace {

constexpr std::string_view npy_begin("\x93NUMPY\x01\x00", 8);
constexpr std::string_view header_begin = "{'descr': '<f4', 'fortran_order': False, 'shape': (";

/// Appends the lowest `bytes` bytes of a number in little-endian order.
void append_little(std::string& out, std::uint32_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((number >> (8 * i)) & 0xFF);
}

} // namespace

std::string npy_bytes(std::span<const float> numbers, std::span<const std::int64_t> shape) {
  std::int64_t size = 1;
  std::string extents;
  for (const std::int64_t extent : shape) {
    size *= extent;
    extents += fmt::format("{},{}", extent, shape.size() == 1 ? "" : " ");
  }
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (size != std::ssize(numbers))
    throw Failed(fmt::format("[npy] a shape of ({}) takes {} numbers, and there are {}", extents, size,
                             numbers.size()));
  std::string header = fmt::format("{}{}), }}", header_begin, extents);
  // `before`: bytes of magic, version and length; with the header, they are a multiple of `alignment`
  constexpr std::size_t before = 10, alignment = 64;
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string out(npy_begin);
  append_little(out, static_cast<std::uint32_t>(header.size()), 2);
  out += header;
  for (const float number : numbers) append_little(out, std::bit_cast<std::uint32_t>(number), 4);
  return out;
}

bool is_npy(std::string_view beginning) {
  constexpr std::size_t length_bytes = 2;
  return beginning.starts_with(npy_begin) && beginning.size() > npy_begin.size() + length_bytes &&
         beginning.substr(npy_begin.size() + length_bytes).starts_with(header_begin);
}

} // namespace heed
