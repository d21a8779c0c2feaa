#include "experiments/runs/index_place.hpp"

#include "experiments/system/content_hash.hpp"
#include "experiments/system/file_system.hpp"

#include <system_error>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "index.sqlite";

} // namespace

fs::path index_place(const FoundFolder& out, const fs::path& canonical, const std::vector<FoundFolder>& others) {
  if (is_local(out)) return out.path / file_name;
  for (const FoundFolder& folder : others)
    if (is_local(folder)) return folder.path / (content_hash(canonical.string()) + ".sqlite");
  return {};
}

fs::path index_path(const fs::path& out) {
  std::error_code error;
  const fs::path there = out / file_name;
  const FoundFolder found{out, is_on_shared_file_system(out),
                          may_write(out) && (!fs::exists(there, error) || may_write(there))};
  if (is_local(found)) return there;
  const fs::path canonical = fs::canonical(out, error);
  return index_place(found, error ? fs::absolute(out, error) : canonical,
                     {own_folder(cache_folder("index")), own_folder(temporary_folder("index"))});
}

} // namespace heed
