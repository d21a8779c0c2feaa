// The numbers of rows of a file in the training, validation and test split.
#pragma once

#include <array>
#include <cstdint>

namespace heed {

struct DataOptions;

/// The numbers of the `n` rows of data.path that belong to training, validation and test. A split with a separate file
/// gets none of these rows. The test gets test_rows, or floor(test n) rows. Then either validation gets validation_rows
/// and training gets all other rows, or training gets floor(train n) rows and validation gets all other rows.
/// `with_test`: the test is a part of data.path unless it has a file.
/// Throws heed::Refused if a number of rows or a file leaves no rows for the split that gets the remaining rows.
std::array<std::uint64_t, 3> split_sizes(const DataOptions& data, std::uint64_t n, bool with_test = true);

} // namespace heed
