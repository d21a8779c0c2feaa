// Tests of where an index is stored: never in the output folder, and never where two machines could write it.
#include "experiments/index/index_place.hpp"
#include "experiments/index/run_index.hpp"
#include "tests/catch.hpp"
#include "tests/environment.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heed;
using heed::test::Environment;
using heed::test::losses;
using heed::test::run_of;
namespace fs = std::filesystem;

TEST_CASE("an index stands in a folder of one's own, never in the output folder", "[runs][index][place]") {
  const FoundFolder cache{"/home/me/.cache/heed/index", false, true}, temporary{"/tmp/heed-index-7", false, true};
  const auto place = [&](const std::vector<FoundFolder>& folders) { return index_place("/data/runs", folders); };
  CHECK(place({cache, temporary}).parent_path() == cache.path);
  CHECK(place({cache}).filename().string().size() == 32);
  // A home directory that several machines share, or that cannot be written.
  CHECK(place({{cache.path, true, true}, temporary}).parent_path() == temporary.path);
  CHECK(place({{cache.path, false, false}, temporary}).parent_path() == temporary.path);
  CHECK(place({{cache.path, true, true}, {temporary.path, false, false}}).empty());
  CHECK(place({}).empty());
  // Each output folder has an index of its own.
  CHECK(place({cache}) == index_place("/data/runs", {cache}));
  CHECK(place({cache}) != index_place("/data/other/runs", {cache}));
}

TEST_CASE("a folder has one index however it is called, which only its user can read", "[runs][index][place]") {
  const Scratch out, cache;
  const Environment variable("XDG_CACHE_HOME", cache.path.string());
  fs::create_directory_symlink(out.path, cache / "link");
  const fs::path place = index_folder(out.path);
  CHECK(place.parent_path() == cache / "heed" / "index");
  CHECK(index_folder(cache / "link") == place);
  CHECK(index_folder(out.path / "." / ".." / out.path.filename()) == place);
  CHECK(fs::status(place).permissions() == fs::perms::owner_all);
}

TEST_CASE("indexes of output folders that are gone are removed when another is made", "[runs][index][place]") {
  const Scratch cache, stays;
  const Environment variable("XDG_CACHE_HOME", cache.path.string());
  fs::path gone, kept = index_folder(stays.path);
  {
    const Scratch out;
    gone = index_folder(out.path);
  }
  put(gone.parent_path() / "0123.sqlite", "an earlier version's");
  CHECK(fs::exists(gone));
  const Scratch another;
  index_folder(another.path);
  CHECK_FALSE(fs::exists(gone));
  CHECK_FALSE(fs::exists(gone.parent_path() / "0123.sqlite"));
  CHECK(fs::exists(kept));
}

TEST_CASE("the index of a folder that is read-only is kept up to date, and nothing is written there",
          "[runs][index][place]") {
  const Scratch real, other;
  const fs::path seen = other.path / "seen", cache = other.path / "cache";
  run_of(real, "seed = 0\n", losses({2.0}));
  fs::create_directories(seen);
  fs::create_directories(cache);
  const Environment variable("XDG_CACHE_HOME", cache.string());
  // A separate mount, which ends with the process.
  constexpr int can_not_mount = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                           ::mount(real.path.c_str(), seen.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
                           ::mount(nullptr, seen.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
      if (!mounted) ::_exit(can_not_mount);
      const auto look = [&](std::size_t runs, std::size_t read) {
        RunIndex index(seen);
        return index.in_memory().empty() && index.size() == runs && index.read_anew() == read;
      };
      const bool first = look(1, 1), second = look(1, 0);
      run_of(real, "seed = 1\n", losses({1.0}));
      const bool third = look(2, 1);
      const fs::path file = index_folder(seen) / index_file_name;
      const bool there = file.parent_path().parent_path() == cache / "heed" / "index" && fs::exists(file);
      status = (first ? 0 : 2) + (second ? 0 : 4) + (third ? 0 : 8) + (there ? 0 : 16);
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == can_not_mount) {
    WARN("skipped: nothing can be mounted here");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_FALSE(fs::exists(real.path / "index.sqlite"));
}

TEST_CASE("a folder for an index that somebody else may write to is not used", "[runs][index][place]") {
  const Scratch out, cache;
  fs::create_directories(cache.path / "heed" / "index");
  fs::permissions(cache.path / "heed" / "index", fs::perms::all);
  const FoundFolder found = own_folder(cache.path / "heed" / "index");
  CHECK_FALSE(found.writable);
  const FoundFolder made = own_folder(cache.path / "elsewhere" / "index");
  CHECK(made.writable);
  CHECK(fs::status(made.path).permissions() == fs::perms::owner_all);
  CHECK_FALSE(own_folder({}).writable);
  fs::create_directory_symlink(made.path, cache.path / "link");
  CHECK_FALSE(own_folder(cache.path / "link").writable);
}
