// The contract of mapped files, of files that are written in parts, and of folders that one process has at a time.
#include "experiments/system/mapped_file.hpp"

#include "experiments/system/own_folder.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <atomic>
#include <cerrno>
#include <thread>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

} // namespace

TEST_CASE("a mapped file has the file's bytes, also when it is replaced or gone", "[system][files]") {
  const Scratch scratch;
  const std::string bytes = std::string(100'000, 'a') + "end";
  put(scratch / "a", bytes);
  auto file = MappedFile::open(scratch / "a");
  REQUIRE(file);
  CHECK(text_of(*file) == bytes);
  write_file(scratch / "a", "other");
  CHECK(text_of(*file) == bytes);
  CHECK(text_of(*MappedFile::open(scratch / "a")) == "other");
  fs::remove(scratch / "a");
  const MappedFile moved = std::move(*file);
  CHECK(text_of(moved) == bytes);
  put(scratch / "empty", "");
  CHECK(text_of(*MappedFile::open(scratch / "empty")).empty());
  CHECK_THAT(MappedFile::open(scratch / "none").error, Contains("cannot read") && Contains("none"));
  CHECK_THAT(MappedFile::open(scratch.path).error, Contains("it is not a regular file"));
  fs::create_symlink(scratch / "empty", scratch / "link");
  CHECK(!MappedFile::open(scratch / "link"));
}

TEST_CASE("a file in parts has its name when it is whole", "[system][files]") {
  const Scratch scratch;
  put(scratch / "a", "before");
  {
    NewFile file(scratch / "a");
    file.write("one ");
    CHECK(content(scratch / "a") == "before");
    CHECK(entries(scratch.path) == 2);
    remove_leftovers(scratch.path); // it is being written
    CHECK(entries(scratch.path) == 2);
    file.write("two");
    file.finish();
  }
  CHECK(content(scratch / "a") == "one two");
  { NewFile(scratch / "a").write("given up"); }
  CHECK(content(scratch / "a") == "one two");
  CHECK(entries(scratch.path) == 1);
  for (int n = 0;; ++n) {
    int left = n;
    const WriteHook hook([&](const fs::path&) { return left-- == 0 ? ENOSPC : 0; });
    try {
      NewFile file(scratch / "b");
      file.write("one ");
      file.write("two");
      file.finish();
      CHECK(n == 5); // opened, written twice, synchronised, renamed
      break;
    } catch (const Failed& error) {
      CHECK_THAT(error.what(), Contains("no space left") && Contains("b'"));
      CHECK(entries(scratch.path) == 1);
    }
  }
}

TEST_CASE("a file's identity is another when somebody wrote to it", "[system][files]") {
  const Scratch scratch;
  put(scratch / "a", "one");
  const auto identity = [&] { return FileParts::open(scratch / "a")->identity(); };
  const FileIdentity before = identity();
  CHECK(before.size == 3);
  CHECK(before == identity());
  const auto time = fs::last_write_time(scratch / "a");
  std::this_thread::sleep_for(std::chrono::milliseconds(30)); // more than a tick of the kernel's clock
  put(scratch / "a", "two");
  fs::last_write_time(scratch / "a", time);
  CHECK(identity() != before);
  CHECK(identity().written == before.written);
}

TEST_CASE("a locked folder is one's own until it is let go or the wait ends", "[system]") {
  const Scratch scratch;
  std::atomic<bool> mine = false;
  std::thread other;
  {
    const FolderLock lock(scratch.path, std::chrono::seconds(60));
    other = std::thread([&] {
      const FolderLock waits(scratch.path, std::chrono::seconds(60));
      mine = true;
    });
    const FolderLock does_not_wait(scratch.path, std::chrono::milliseconds(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    CHECK(!mine);
  }
  other.join();
  CHECK(mine);
  const FolderLock nowhere(scratch / "none", std::chrono::seconds(60));
}
