// Tests of mapped files, of files that are written in parts, and of folders that only one process uses at a time.
#include "experiments/system/mapped_file.hpp"

#include "experiments/system/own_folder.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

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

TEST_CASE("a mapped file that is shortened ends nobody: what is gone reads as zeros, and it says so",
          "[system][files]") {
  const Scratch scratch;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::string whole(5 * page + 7, 'a');
  put(scratch / "a", whole);
  put(scratch / "b", whole);
  auto file = MappedFile::open(scratch / "a"), other = MappedFile::open(scratch / "b");
  REQUIRE((file && other));
  const MappedFile::State before = file->state();
  CHECK(before.size == whole.size());
  CHECK(before == file->state());
  REQUIRE(text_of(*file) == whole);
  std::this_thread::sleep_for(std::chrono::milliseconds(30)); // longer than a tick of the kernel's clock
  const std::size_t left = GENERATE_COPY(std::size_t{0}, 2 * page, 2 * page + 1, 5 * page + 6);
  fs::resize_file(scratch / "a", left);
  CHECK(file->state() != before);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { (void)text_of(*file); });
  for (std::thread& thread : threads) thread.join();
  CHECK(text_of(*file) == std::string(left, 'a') + std::string(whole.size() - left, '\0'));
  CHECK(file->lost() == (left <= 5 * page)); // the rest of the last page that is left reads as zeros without an error
  CHECK(file->state().size == left);
  CHECK((text_of(*other) == whole && !other->lost()));
  // A new file mapped at the same address has lost nothing.
  file = MappedFile::open(scratch / "b");
  CHECK((text_of(*file) == whole && !file->lost()));
}

namespace {

/// Whether the action kills the process that does it. Sanitizers end the process in their own way.
bool is_the_end(const auto& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

/// Reads bytes that a file no longer has, through a mapping that Heed did not make.
void read_beyond(const fs::path& path) {
  const Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (::ftruncate(fd.get(), 1) != 0) ::_exit(0);
  const auto* const bytes = static_cast<const volatile char*>(::mmap(nullptr, 1, PROT_READ, MAP_SHARED, fd.get(), 0));
  if (::ftruncate(fd.get(), 0) != 0) ::_exit(0);
  (void)*bytes;
}

} // namespace

TEST_CASE("other bus errors do what they did", "[system][files]") {
  const Scratch scratch;
  put(scratch / "a", "bytes");
  const auto file = MappedFile::open(scratch / "a");
  REQUIRE(file);
  CHECK(is_the_end([&] { read_beyond(scratch / "b"); }));
  CHECK(is_the_end([] { ::raise(SIGBUS); }));
  CHECK_FALSE(is_the_end([] {}));
  CHECK(text_of(*file) == "bytes");
}

TEST_CASE("a file in parts has its name when it is whole", "[system][files]") {
  const Scratch scratch;
  put(scratch / "a", "before");
  {
    NewFile file(scratch / "a");
    file.write("one ");
    CHECK(content(scratch / "a") == "before");
    CHECK(entries(scratch.path) == 2);
    remove_leftovers(scratch.path); // the file is being written
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
  std::this_thread::sleep_for(std::chrono::milliseconds(30)); // longer than a tick of the kernel's clock
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
