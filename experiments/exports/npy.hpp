// Writes arrays as NumPy's .npy files, which numpy.load(FILE) reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heed {

/// The bytes of a .npy file, version 1.0 (numpy.lib.format): "\x93NUMPY", 1, 0; the header's length in two bytes; the
/// header; the values as float32, little-endian, row-major. The header is a Python dictionary, padded with blanks and
/// ended by a newline so that the values start at a multiple of 64 bytes. Throws heed::Failed if the number of values
/// differs from the shape's.
std::string npy_bytes(std::span<const float> numbers, std::span<const std::int64_t> shape);

} // namespace heed
