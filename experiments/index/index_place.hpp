// Where an output folder's index is stored, and the signatures by which it detects changes of run folders. The index is
// never in the output folder itself. Another user may have created that folder, and SQLite would follow links there or
// delete files.
#pragma once

#include "experiments/system/own_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// The path HASH in the first of these folders that is local to this machine and writable. HASH is the hash of the
/// output folder's canonical path. Empty if there is no such folder.
std::filesystem::path index_place(const std::filesystem::path& canonical, const std::vector<FoundFolder>& folders);

/// The name of the index file in such a folder.
inline constexpr const char* index_file_name = "index.sqlite";

/// index_place for the existing candidates, folders that only this user can access: $XDG_CACHE_HOME/heed/index
/// (~/.cache/heed/index), or heed-index-UID in the folder for temporary files if several machines share the home
/// folder. Creates the folder if needed; then removes the index folders of output folders that no longer exist.
std::filesystem::path index_folder(const std::filesystem::path& out);

/// One signature for each folder OUT/ID. Reads the metadata of three files per folder and opens none. Many folders are
/// divided among several threads, because on a network file system each request waits for a reply.
std::vector<std::int64_t> folder_signatures(const std::filesystem::path& out, const std::vector<std::string>& ids);

} // namespace heed
