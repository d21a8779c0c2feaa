#include "experiments/index/index_place.hpp"

#include "experiments/system/content_hash.hpp"
#include "experiments/system/files.hpp"

#include <system_error>

namespace heed {

namespace fs = std::filesystem;

namespace {

/// A file in each index's folder: the path of its output folder.
constexpr const char* of_file = "of";

/// Removes the indexes of output folders that no longer exist, and files of earlier versions.
void tidy_indexes(const fs::path& indexes) {
  std::error_code error;
  for (fs::directory_iterator it(indexes, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const auto of = it->is_directory(gone) ? read_file(it->path() / of_file) : Parsed<std::string>::ok("");
    const bool left = of && !fs::exists(*of, gone) && !gone;
    if (left) fs::remove_all(it->path(), gone);
  }
}

} // namespace

fs::path index_place(const fs::path& canonical, const std::vector<FoundFolder>& folders) {
  for (const FoundFolder& folder : folders)
    if (is_local(folder)) return folder.path / content_hash(canonical.string());
  return {};
}

fs::path index_folder(const fs::path& out) {
  std::error_code error;
  const fs::path canonical = fs::canonical(out, error);
  const fs::path place = index_place(error ? fs::absolute(out, error) : canonical,
                                     {own_folder(cache_folder("index")), own_folder(temporary_folder("index"))});
  if (place.empty() || fs::exists(place / of_file, error)) return is_local(own_folder(place)) ? place : fs::path();
  tidy_indexes(place.parent_path());
  if (!is_local(own_folder(place))) return {};
  try {
    write_file(place / of_file, canonical.string(), Durability::process);
  } catch (const Failed&) {
    return {};
  }
  return place;
}

} // namespace heed
