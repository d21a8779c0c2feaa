// Detects changes of run folders: a signature is a hash of the names, sizes, times and inodes of the files from which
// an index entry is read. While the signature is unchanged, the entry is unchanged too. The exception is the state of a
// run that is not finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// One signature for each folder OUT/ID. Reads the metadata of three files per folder and opens none. Many folders are
/// divided among several threads, because on a network file system each request waits for a reply.
std::vector<std::int64_t> folder_signatures(const std::filesystem::path& out, const std::vector<std::string>& ids);

} // namespace heed
