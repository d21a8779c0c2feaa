// Whether run folders are as they were: a number of the names, sizes, times and inodes of the files that an entry is
// read from. While it stays the same, so does the entry, except for its state where the run is not finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// One for each folder OUT/ID. Three files of each are looked at, and none is opened; of many folders in some threads,
/// since on a network file system each look waits for an answer.
std::vector<std::int64_t> folder_signatures(const std::filesystem::path& out, const std::vector<std::string>& ids);

} // namespace heed
