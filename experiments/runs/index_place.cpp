#include "experiments/runs/index_place.hpp"

#include "experiments/runs/content_hash.hpp"
#include "experiments/system/file_system.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "index.sqlite";

/// An absolute path from the environment; empty where there is none.
fs::path folder_in(const char* variable) {
  const char* const text = std::getenv(variable);
  const fs::path path = text ? text : "";
  return path.is_absolute() ? path : fs::path();
}

fs::path cache_folder() {
  fs::path cache = folder_in("XDG_CACHE_HOME");
  if (const fs::path home = folder_in("HOME"); cache.empty() && !home.empty()) cache = home / ".cache";
  return cache.empty() ? cache : cache / "heed" / "index";
}

fs::path temporary_folder() {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  return error ? fs::path() : temporary / fmt::format("heed-index-{}", ::geteuid());
}

bool serves(const FoundFolder& folder) { return !folder.shared && folder.writable; }

} // namespace

fs::path index_place(const FoundFolder& out, const fs::path& canonical, const std::vector<FoundFolder>& others) {
  if (serves(out)) return out.path / file_name;
  for (const FoundFolder& folder : others)
    if (serves(folder)) return folder.path / (content_hash(canonical.string()) + ".sqlite");
  return {};
}

FoundFolder own_folder(const fs::path& path) {
  FoundFolder out{path, false, false};
  if (path.empty()) return out;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  ::mkdir(path.c_str(), S_IRWXU);
  struct stat about = {};
  const bool own = ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() &&
                   (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  out.writable = own && may_write(path);
  out.shared = is_on_shared_file_system(path);
  return out;
}

fs::path index_path(const fs::path& out) {
  std::error_code error;
  const fs::path there = out / file_name;
  const FoundFolder found{out, is_on_shared_file_system(out),
                          may_write(out) && (!fs::exists(there, error) || may_write(there))};
  if (serves(found)) return there;
  const fs::path canonical = fs::canonical(out, error);
  return index_place(found, error ? fs::absolute(out, error) : canonical,
                     {own_folder(cache_folder()), own_folder(temporary_folder())});
}

} // namespace heed
