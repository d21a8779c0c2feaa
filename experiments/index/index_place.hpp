// Where an output folder's index is kept: never in the output folder, which somebody else may have made, and whose files
// SQLite would open wherever they lead, or delete.
#pragma once

#include "experiments/system/own_folder.hpp"

#include <filesystem>
#include <vector>

namespace heed {

/// HASH in the first of these folders that is of this machine alone and can be written, HASH being that of the output
/// folder's canonical path; empty where there is none.
std::filesystem::path index_place(const std::filesystem::path& canonical, const std::vector<FoundFolder>& folders);

/// What Heed keeps in such a folder.
inline constexpr const char* index_file_name = "index.sqlite";

/// index_place in the folders that there are, a folder that this user has to himself: in $XDG_CACHE_HOME/heed/index
/// (~/.cache/heed/index), or heed-index-UID in the folder for temporary files, where the home folder is several machines'.
/// They are made when they are needed; then those of output folders that are gone are removed.
std::filesystem::path index_folder(const std::filesystem::path& out);

} // namespace heed
