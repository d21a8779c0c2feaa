// The largest sizes of files that Heed writes and reads again, apart from `largest_record` (files.hpp), which holds for
// records of any number of runs. A larger file is not Heed's, and is not read.
#pragma once

#include <cstdint>

namespace heed {

/// A configuration; a long one has some kB.
inline constexpr std::uint64_t largest_config_file = std::uint64_t{1} << 20;
/// A run's manifest, or a submission to a cluster. A manifest with 100,000 stored checkpoints has 10 MB.
inline constexpr std::uint64_t largest_manifest = std::uint64_t{1} << 26;
/// A record of some numbers and names, such as a run's progress; and the part of a log that is read.
inline constexpr std::uint64_t largest_state = std::uint64_t{1} << 16;

} // namespace heed
