// How the rows of one file are shared out among the splits.
#pragma once

#include <array>
#include <cstdint>

namespace heed {

struct DataOptions;

/// How many of the `n` rows of data.path belong to training, validation and test. A split with a file of its own has
/// none of them. The test has test_rows, or floor(test n); then validation has validation_rows, and training all others,
/// or training has floor(train n), and validation all others. `with_test`: the test is a part of data.path unless
/// it has a file.
/// Throws heed::Refused where a number of rows, or a file, leaves nothing for who takes the rest.
std::array<std::uint64_t, 3> split_sizes(const DataOptions& data, std::uint64_t n, bool with_test = true);

} // namespace heed
