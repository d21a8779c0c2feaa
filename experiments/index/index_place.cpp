#include "experiments/index/index_place.hpp"

#include "experiments/runs/run_folder.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/descriptor.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/threads.hpp"

#include <array>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <xxhash.h>

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

/// Computes signatures of folders in `out`. Names are relative to the open folder `out`, or full paths if it can't be
/// opened (AT_FDCWD).
class Signer {
public:
  explicit Signer(const std::filesystem::path& out)
      : out_(::open(out.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), prefix_(out_.get() < 0 ? out.string() + "/" : "") {
    const RunFolder run;
    names_ = {run.config().string(), run.manifest().string(), run.metrics().string()};
  }

  std::int64_t of(const std::string& id) const {
    std::array<std::array<std::int64_t, 4>, 4> looks{};
    // A folder that was replaced by a link is not a run any more.
    struct stat folder = {};
    if (::fstatat(out_.get() < 0 ? AT_FDCWD : out_.get(), (prefix_ + id).c_str(), &folder, AT_SYMLINK_NOFOLLOW) == 0)
      looks.back()[0] = S_ISLNK(folder.st_mode);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      struct stat about = {};
      const std::string path = prefix_ + id + '/' + names_[i];
      if (::fstatat(out_.get() < 0 ? AT_FDCWD : out_.get(), path.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0)
        looks[i] = {about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size,
                    static_cast<std::int64_t>(about.st_ino)};
    }
    return static_cast<std::int64_t>(XXH3_64bits(looks.data(), sizeof looks));
  }

private:
  Descriptor out_;
  std::string prefix_;
  std::array<std::string, 3> names_;
};

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

std::vector<std::int64_t> folder_signatures(const std::filesystem::path& out, const std::vector<std::string>& ids) {
  const Signer signer(out);
  std::vector<std::int64_t> signatures(ids.size());
  for_each_in_threads(ids.size(), [&](std::size_t i) { signatures[i] = signer.of(ids[i]); });
  return signatures;
}

} // namespace heed
