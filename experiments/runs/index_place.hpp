// Where an output folder's index is kept. SQLite's locks don't hold between machines, so that an index stands on a
// local disk, or nowhere.
#pragma once

#include "experiments/system/own_folder.hpp"

#include <filesystem>
#include <vector>

namespace heed {

/// OUT/index.sqlite where OUT is of this machine alone and can be written. Else HASH.sqlite in the first of the other
/// folders of which that is so, HASH being the canonical path's; empty where it is so of none.
std::filesystem::path index_place(const FoundFolder& out, const std::filesystem::path& canonical,
                                  const std::vector<FoundFolder>& others);

/// index_place of the folders that there are: other ones are $XDG_CACHE_HOME/heed/index (~/.cache/heed/index), and
/// heed-index-UID in the folder for temporary files, where the home folder, too, is several machines'. They are made
/// when they are needed.
std::filesystem::path index_path(const std::filesystem::path& out);

} // namespace heed
