// Where an index stands: never where two machines could write it, nor where it can't be written.
#include "experiments/runs/index_place.hpp"
#include "experiments/runs/run_index.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <cstdlib>
#include <optional>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heed;
using heed::test::losses;
using heed::test::run_of;
namespace fs = std::filesystem;

namespace {

/// A variable of the environment as it is for a while.
class Environment {
public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Environment() { set(before_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

private:
  void set(const std::optional<std::string>& value) {
    if (value) ::setenv(name_, value->c_str(), 1);
    else ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

} // namespace

TEST_CASE("an index stands in its folder only where that is local and can be written", "[runs][index][place]") {
  const FoundFolder cache{"/home/me/.cache/heed/index", false, true}, temporary{"/tmp/heed-index-7", false, true};
  const auto place = [&](bool shared, bool writable, const std::vector<FoundFolder>& others) {
    return index_place({"runs", shared, writable}, "/data/runs", others);
  };
  CHECK(place(false, true, {cache}) == "runs/index.sqlite");
  for (const auto& [shared, writable] : {std::pair(true, true), std::pair(false, false), std::pair(true, false)}) {
    const fs::path found = place(shared, writable, {cache, temporary});
    CHECK(found.parent_path() == cache.path);
    CHECK(found.extension() == ".sqlite");
    CHECK(found.stem().string().size() == 32);
  }
  // A home that several machines have, or that can't be written.
  CHECK(place(true, true, {{cache.path, true, true}, temporary}).parent_path() == temporary.path);
  CHECK(place(false, false, {{cache.path, false, false}, temporary}).parent_path() == temporary.path);
  CHECK(place(true, true, {{cache.path, true, true}, {temporary.path, false, false}}).empty());
  CHECK(place(true, true, {}).empty());
  // One file for each folder, however it is called.
  const auto of = [&](const fs::path& out, const fs::path& canonical) {
    return index_place({out, true, true}, canonical, {cache});
  };
  CHECK(of("runs", "/data/runs") == of("../data/runs", "/data/runs"));
  CHECK(of("runs", "/data/runs") != of("runs", "/data/other/runs"));
}

TEST_CASE("the index of a folder of one's own is in it", "[runs][index][place]") {
  const Scratch out;
  CHECK(index_path(out.path) == out.path / "index.sqlite");
}

TEST_CASE("the index of a folder that is read-only is in the reader's cache, and kept up to date there",
          "[runs][index][place]") {
  const Scratch real, other;
  const fs::path seen = other.path / "seen", cache = other.path / "cache";
  run_of(real, "seed = 0\n", losses({2.0}));
  fs::create_directories(seen);
  fs::create_directories(cache);
  const Environment variable("XDG_CACHE_HOME", cache.string());
  // A mount of its own, which goes with the process.
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
      const fs::path file = index_path(seen);
      const bool there = file.parent_path() == cache / "heed" / "index" && fs::exists(file) &&
                         fs::status(file.parent_path()).permissions() == fs::perms::owner_all;
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
