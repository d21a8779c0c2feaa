// Writes arrays as NumPy's .npy files, which numpy.load(FILE) reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// The bytes of a .npy file, version 1.0 (numpy.lib.format): "\x93NUMPY", 1, 0; the header's length in two bytes; the
/// header; the values as float32, little-endian, row-major. The header is a Python dictionary, padded with blanks and
/// ended by a newline so that the values start at a multiple of 64 bytes. Throws heed::Failed if the number of values
/// differs from the shape's.
std::string npy_bytes(std::span<const float> numbers, std::span<const std::int64_t> shape);

/// Whether a file with this beginning can be one that npy_bytes made: float32, row-major.
bool is_npy(std::string_view beginning);

} // namespace heed
