#include "experiments/index/folder_signatures.hpp"

#include "experiments/runs/run_folder.hpp"
#include "experiments/system/descriptor.hpp"
#include "experiments/system/threads.hpp"

#include <array>
#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

namespace heed {
namespace {

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

std::vector<std::int64_t> folder_signatures(const std::filesystem::path& out, const std::vector<std::string>& ids) {
  const Signer signer(out);
  std::vector<std::int64_t> signatures(ids.size());
  for_each_in_threads(ids.size(), [&](std::size_t i) { signatures[i] = signer.of(ids[i]); });
  return signatures;
}

} // namespace heed
