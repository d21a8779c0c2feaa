// Arrays as NumPy's .npy files: numpy.load(FILE) gives them back.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heed {

/// The bytes of a .npy file, version 1.0 (numpy.lib.format): "\x93NUMPY", 1, 0; the header's length in two bytes; the
/// header, a Python dictionary filled up with blanks and ended by a newline so that 64 divides what stands before the
/// numbers; the numbers, float32, little-endian, row-major. Throws heed::Failed where the shape has not as many
/// numbers.
std::string npy_bytes(std::span<const float> numbers, std::span<const std::int64_t> shape);

} // namespace heed
