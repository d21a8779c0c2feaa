#include "experiments/system/user_file.hpp"

#include "autograd/error.hpp"
#include "experiments/system/polling.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

bool is_own(std::string_view beginning) { return beginning.starts_with("own"); }
constexpr Replacing careful{.is_own = is_own}, forced{.is_own = is_own, .force = true};

void write(const fs::path& path, std::string_view bytes, const Replacing& replacing = careful) {
  UserFile(path, replacing).write(bytes);
}

/// The message with which writing is refused; "written" if it is not.
std::string refusal(const fs::path& path, const Replacing& replacing = careful) {
  try {
    write(path, "own new", replacing);
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "written";
}

::mode_t mode_of(const fs::path& path) {
  struct stat about = {};
  return ::lstat(path.c_str(), &about) == 0 ? about.st_mode : 0;
}

/// What comes out of a pipe until its end.
std::string read_all(int fd) {
  std::string out;
  std::array<char, 4096> part{};
  for (;;) {
    const ::ssize_t n = ::read(fd, part.data(), part.size());
    if (n <= 0) return out;
    out.append(part.data(), static_cast<std::size_t>(n));
  }
}

} // namespace

TEST_CASE("a user's file is new, or one of the writer's own, or replaced by force", "[system][user_file]") {
  const Scratch scratch;
  const fs::path file = scratch / "file";
  write(file, "own first");
  write(file, "own second");
  CHECK(content(file) == "own second");

  for (const char* const other : {"", "ow", "a user's notes"}) {
    put(file, other);
    CHECK_THAT(refusal(file), Contains(file.string()) &&
                                  Contains("exists and was not written by Heed: choose another name, or say --force"));
    CHECK(content(file) == other);
  }
  CHECK_THAT(refusal(file, {.is_own = is_own, .force = false, .option = "force=True"}), Contains("say force=True"));
  CHECK(refusal(file, forced) == "written");
  CHECK(content(file) == "own new");
  CHECK(entries(scratch.path) == 1);
}

TEST_CASE("a file that is replaced keeps its permissions", "[system][user_file]") {
  const Scratch scratch;
  const fs::path file = scratch / "file";
  put(file, "own");
  for (const ::mode_t mode : {0600U, 0664U}) {
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    write(file, "own new");
    CHECK((mode_of(file) & 07777U) == mode);
  }
}

TEST_CASE("a link is followed, and stays", "[system][user_file]") {
  const Scratch scratch;
  fs::create_directory(scratch / "elsewhere");
  fs::create_symlink("elsewhere/file", scratch / "link");
  CHECK_THAT(refusal(scratch / "link"), Contains("is a link to 'elsewhere/file', which does not exist"));
  put(scratch / "elsewhere/file", "a user's notes");
  CHECK_THAT(refusal(scratch / "link"), Contains("link' exists and was not written by Heed"));
  put(scratch / "elsewhere/file", "own");
  CHECK(refusal(scratch / "link") == "written");
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(content(scratch / "elsewhere/file") == "own new");
  CHECK(entries(scratch / "elsewhere") == 1);

  fs::create_symlink("round", scratch / "round");
  CHECK_THAT(refusal(scratch / "round", forced), Contains("is a link to 'round'"));
}

TEST_CASE("folders, sockets and missing folders are refused with the reason, also by force", "[system][user_file]") {
  const Scratch scratch;
  CHECK_THAT(refusal(scratch.path, forced), Contains("is a folder: name a file"));
  CHECK_THAT(refusal(scratch / "gone/file", forced), Contains("no such file or directory") && Contains("gone/file"));
  put(scratch / "file", "");
  CHECK_THAT(refusal(scratch / "file/inside", forced), Contains("not a directory"));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = (scratch / "socket").string();
  REQUIRE(path.size() < sizeof name.sun_path);
  path.copy(name.sun_path, path.size());
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  CHECK_THAT(refusal(path, forced), Contains("is a socket"));
  CHECK(S_ISSOCK(mode_of(path)));
  ::close(fd);
}

TEST_CASE("a device is written through and stays a device", "[system][user_file]") {
  const Scratch scratch;
  const fs::path null = scratch / "null";
  if (::mknod(null.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) == 0) { // only root may
    if (::close(::open(null.c_str(), O_WRONLY)) == 0) {              // not on a file system without devices
      CHECK(refusal(null) == "written");
      CHECK(refusal(null, forced) == "written");
    }
    CHECK(S_ISCHR(mode_of(null)));
  }
  UserFile file("/dev/null", careful);
  CHECK_FALSE(file.is_file());
  CHECK_FALSE(file.is_terminal());
  file.write("text");
  CHECK_FALSE(file.is_file());
  CHECK(S_ISCHR(mode_of("/dev/null")));
  if (fs::exists("/dev/full"))
    CHECK_THROWS_WITH(write("/dev/full", "x"), Contains("'/dev/full'") && Contains("no space left on device"));
}

TEST_CASE("a block device is refused", "[system][user_file]") {
  const Scratch scratch;
  const fs::path disk = scratch / "disk";
  if (::mknod(disk.c_str(), S_IFBLK | 0600, ::makedev(7, 99)) != 0) return; // only root may
  CHECK_THAT(refusal(disk, forced), Contains("is a device with files on it"));
  CHECK(S_ISBLK(mode_of(disk)));
}

TEST_CASE("a pipe gets every byte, and one that nobody reads is not waited for", "[system][user_file]") {
  const Scratch scratch;
  const fs::path pipe = scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(refusal(pipe, forced), Contains("is a pipe that nobody reads: start its reader first"));
  const std::string text(1'000'000, 'x');
  const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(end >= 0);
  UserFile file(pipe, careful);
  REQUIRE(::fcntl(end, F_SETFL, 0) == 0);
  std::string seen;
  std::thread reader([&] { seen = read_all(end); });
  file.write(text);
  reader.join();
  ::close(end);
  CHECK(seen == text);
  CHECK(S_ISFIFO(mode_of(pipe)));
}

TEST_CASE("a reader that makes the writer wait does not keep its caller from stopping it", "[system][user_file]") {
  const Scratch scratch;
  const fs::path pipe = scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  UserFile file(pipe, careful);
  struct Stop {};
  int calls = 0;
  const PollScope scope([&] {
    if (++calls > 3) throw Stop();
  });
  CHECK_THROWS_AS(file.write(std::string(1'000'000, 'x')), Stop);
  ::close(end);
}

TEST_CASE("an open file is written where it is, and not replaced", "[system][user_file]") {
  const Scratch scratch;
  const int fd = ::open((scratch / "log").c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, "before ", 7) == 7);
  fs::create_symlink(fmt::format("/proc/self/fd/{}", fd), scratch / "link");
  write(fmt::format("/dev/fd/{}", fd), "one ");
  write(fmt::format("/proc/self/fd/{}", fd), "two ");
  write(scratch / "link", "three");
  CHECK(content(scratch / "log") == "before one two three");
  CHECK(::write(fd, ".", 1) == 1);
  CHECK(content(scratch / "log") == "before one two three.");
  ::close(fd);
  const int reading = ::open((scratch / "log").c_str(), O_RDONLY);
  CHECK_THAT(refusal(fmt::format("/dev/fd/{}", reading)), Contains("is open for reading only"));
  ::close(reading);
}

TEST_CASE("what came or changed after the look is not replaced", "[system][user_file]") {
  const Scratch scratch;
  const fs::path file = scratch / "file";
  UserFile fresh(file, careful);
  put(file, "a user's notes");
  CHECK_THROWS_WITH(fresh.write("own"), Contains("came into being while this command worked"));
  CHECK(content(file) == "a user's notes");
  put(file, "own");
  UserFile known(file, careful);
  put(file, "own and more");
  CHECK_THROWS_WITH(known.write("own"), Contains("changed while this command worked"));
  CHECK(content(file) == "own and more");
  CHECK(entries(scratch.path) == 1);
}

TEST_CASE("of several files, none is written if one is refused", "[system][user_file]") {
  const Scratch scratch;
  put(scratch / "b", "a user's notes");
  const std::vector<std::pair<std::string, std::string>> texts{{"a", "own a"}, {"b", "own b"}};
  CHECK_THROWS_AS(write_user_files(scratch.path, texts, careful), Refused);
  CHECK(entries(scratch.path) == 1);
  write_user_files(scratch.path, texts, forced);
  CHECK(content(scratch / "a") == "own a");
  CHECK(content(scratch / "b") == "own b");
}

TEST_CASE("a failed write leaves the user's file as it was", "[system][user_file]") {
  const Scratch scratch;
  put(scratch / "file", "own before");
  for (int n = 0; n < 4; ++n) {
    int left = n;
    UserFile file(scratch / "file", careful);
    const WriteHook hook([&](const fs::path&) { return left-- == 0 ? ENOSPC : 0; });
    CHECK_THROWS_WITH(file.write("own after"), Contains("no space left"));
    CHECK(content(scratch / "file") == "own before");
    CHECK(entries(scratch.path) == 1);
  }
}
