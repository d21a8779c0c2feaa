#include "experiments/system/files.hpp"
#include "experiments/system/output_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Calls `act` repeatedly: first its first disk change fails with ENOSPC, then its second, and so on, until `act`
/// succeeds. Calls `check` after each failure.
int with_each_write_failing(const std::function<void()>& act, const std::function<void()>& check) {
  for (int n = 0;; ++n) {
    int left = n;
    const WriteHook hook([&](const fs::path&) { return left-- == 0 ? ENOSPC : 0; });
    try {
      act();
      return n;
    } catch (const Failed& error) {
      CHECK_THAT(error.what(), Contains("no space left") && Contains("free some space"));
      check();
    }
  }
}

} // namespace

TEST_CASE("a file is replaced whole", "[system][files]") {
  const Scratch scratch;
  write_file(scratch / "a", "first");
  write_file(scratch / "a", std::string("sec\0nd", 6));
  CHECK(content(scratch / "a") == std::string("sec\0nd", 6));
  CHECK(*read_file(scratch / "a") == std::string("sec\0nd", 6));
  CHECK(entries(scratch.path) == 1);
}

TEST_CASE("whichever write fails, the file stays as it was and nothing is left aside", "[system][files]") {
  const Scratch scratch;
  write_file(scratch / "a", "before");
  const int failures = with_each_write_failing([&] { write_file(scratch / "a", "after"); },
                                               [&] {
                                                 CHECK(content(scratch / "a") == "before");
                                                 CHECK(entries(scratch.path) == 1);
                                               });
  CHECK(failures == 4); // make, write, synchronise, rename
  CHECK(content(scratch / "a") == "after");
}

TEST_CASE("a line that can't be added leaves no part of itself", "[system][files]") {
  const Scratch scratch;
  append_line(scratch / "log", "one");
  const int failures = with_each_write_failing([&] { append_line(scratch / "log", "two"); },
                                               [&] { CHECK(content(scratch / "log") == "one\n"); });
  CHECK(failures == 2);
  CHECK(content(scratch / "log") == "one\ntwo\n");
}

TEST_CASE("a full disk is told from the rest", "[system][files]") {
  // /dev/full accepts no byte: the ENOSPC is the system's own and does not come from the hook.
  if (!fs::exists("/dev/full")) return;
  CHECK_THROWS_WITH(append_line("/dev/full", "x"), Contains("'/dev/full'") && Contains("no space left on device"));
}

TEST_CASE("errors name the path, the reason and the remedy", "[system][files]") {
  const Scratch scratch;
  put(scratch / "file", "");
  CHECK_THROWS_WITH(write_file(scratch / "file/inside", "x"), Contains("file/inside") && Contains("not a directory") &&
                                                                  Contains("remove it, or choose another folder"));
  CHECK_THROWS_WITH(make_folder(scratch / "file/inside"), Contains("not a directory"));
  CHECK_THROWS_WITH(write_file(scratch / "gone/file", "x"), Contains("no such file or directory"));
  fs::create_directory(scratch / "folder");
  CHECK_THROWS_WITH(write_file(scratch / "folder", "x"), Contains("folder stands where the file should be"));
}

TEST_CASE("an output folder that can't be used is refused before anything runs", "[system][files]") {
  const Scratch scratch;
  make_output_folder(scratch / "new/deep");
  CHECK(entries(scratch / "new/deep") == 0);

  put(scratch / "file", "");
  CHECK_THROWS_AS(make_output_folder(scratch / "file"), Refused);
  CHECK_THROWS_WITH(make_output_folder(scratch / "file"),
                    Contains("not a directory") && Contains("choose another folder"));
  CHECK_THROWS_WITH(make_output_folder(""), Contains("the output folder is an empty text"));
  const WriteHook full([](const fs::path&) { return EROFS; });
  CHECK_THROWS_AS(make_output_folder(scratch / "other"), Refused);
}

TEST_CASE("reading says why it can't", "[system][files]") {
  const Scratch scratch;
  CHECK_THAT(read_file(scratch / "gone").error, Contains("gone") && Contains("No such file"));
  CHECK_FALSE(read_file(scratch.path));
}

TEST_CASE("what killed writers left aside is removed, and nothing else", "[system][files]") {
  const Scratch scratch;
  put(scratch / ".config.toml.123-0.aside", "half");
  put(scratch / "config.toml", "whole");
  put(scratch / ".hidden", "");
  remove_leftovers(scratch.path);
  CHECK(entries(scratch.path) == 2);
  CHECK(content(scratch / "config.toml") == "whole");
}

TEST_CASE("what a machine of the same name is writing stays, until it is old", "[system][files]") {
  // A lock held on another machine is not visible here, so these locks seem to be free.
  const Scratch scratch;
  char host[256] = {};
  REQUIRE(::gethostname(host, sizeof host - 1) == 0);
  const std::string namesake = std::string("@") + host + "+0123abcd.aside",
                    earlier = std::string("@") + host + ".aside";
  for (const std::string& ending : {namesake, earlier, std::string("@elsewhere+0123abcd.aside")}) {
    put(scratch / (".plan.json.99-0" + ending), "half");
    put(scratch / (".plan.json.99-1" + ending), "half, long ago");
    fs::last_write_time(scratch / (".plan.json.99-1" + ending),
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  put(scratch / (".plan.json.99-0" + aside_ending()), "of this machine, and no process holds it");
  remove_leftovers(scratch.path);
  CHECK(entries(scratch.path) == 3);
  for (const std::string& ending : {namesake, earlier, std::string("@elsewhere+0123abcd.aside")})
    CHECK(content(scratch / (".plan.json.99-0" + ending)) == "half");
}

TEST_CASE("removing what is not there is fine", "[system][files]") {
  const Scratch scratch;
  put(scratch / "a", "");
  OutputFile(scratch.path, "a").remove();
  OutputFile(scratch.path, "a").remove();
  CHECK(entries(scratch.path) == 0);
}

TEST_CASE("what a living writer has aside stays, and goes with the writer", "[system][files]") {
  const Scratch scratch;
  const auto aside = [&] {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(scratch.path))
      if (entry.path().filename().string().ends_with(".aside")) found = entry.path();
    return found;
  };
  const ::pid_t child = ::fork();
  if (child == 0) {
    // Before each change, the test checks: the temporary file exists and is locked when the second change is about to
    // happen.
    int changes = 0;
    const WriteHook hook([&](const fs::path&) {
      if (++changes == 3) ::pause();
      return 0;
    });
    write_file(scratch / "plan.json", "whole");
    ::_exit(0);
  }
  while (aside().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // after the lock
  remove_leftovers(scratch.path);
  CHECK_FALSE(aside().empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  remove_leftovers(scratch.path);
  CHECK(entries(scratch.path) == 0);
}

TEST_CASE("writers whose folder is swept all the time lose nothing", "[system][files]") {
  const Scratch scratch;
  std::jthread sweeper([&](const std::stop_token& done) {
    while (!done.stop_requested()) remove_leftovers(scratch.path);
  });
  for (int i = 0; i < 300; ++i) {
    write_file(scratch / "plan.json", std::to_string(i), Durability::process);
    REQUIRE(content(scratch / "plan.json") == std::to_string(i));
  }
  sweeper = {};
  CHECK(entries(scratch.path) == 1);
}

TEST_CASE("an output folder is rid of what killed starts left", "[system][files]") {
  const Scratch scratch;
  put(scratch / "..heed-probe.99-0.aside", "heed");
  put(scratch / ".index.99-1.aside", "half");
  make_output_folder(scratch.path);
  CHECK(entries(scratch.path) == 0);
}

TEST_CASE("only regular files are read, and nothing is waited for", "[system][files]") {
  const Scratch scratch;
  const fs::path pipe = scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(read_file(pipe).error, Contains("it is a pipe"));
  CHECK_THAT(read_file("/dev/zero").error, Contains("it is a device"));
  CHECK_THAT(read_file(scratch.path).error, Contains("it is a folder"));
  CHECK_THAT(read_beginning(pipe, 8).error, Contains("it is a pipe"));
  CHECK_THAT(FileParts::open(pipe).error, Contains("it is a pipe"));
  CHECK_THAT(FileParts::open(scratch / "gone").error, Contains("gone") && Contains("No such file"));
  CHECK_THROWS_WITH(append_line(pipe, "x"), Contains("a pipe stands where the file should be"));
}

TEST_CASE("a file is read in parts, and one that became shorter is told", "[system][files]") {
  const Scratch scratch;
  put(scratch / "file", "0123456789");
  const auto file = FileParts::open(scratch / "file");
  REQUIRE(file);
  CHECK(file->size() == 10);
  std::string part(4, ' ');
  CHECK(file->read(3, std::as_writable_bytes(std::span(part))).empty());
  CHECK(part == "3456");
  CHECK(file->read(10, {}).empty());
  fs::resize_file(scratch / "file", 5);
  CHECK_THAT(file->read(3, std::as_writable_bytes(std::span(part))), Contains("it ends before"));
}

TEST_CASE("a file that is absurdly large is not read", "[system][files]") {
  const Scratch scratch;
  put(scratch / "long", "0123456789");
  CHECK(*read_file(scratch / "long", 10) == "0123456789");
  CHECK_THAT(read_file(scratch / "long", 9).error, Contains("it has 10 bytes, and at most 9 make sense there"));
  CHECK(*read_beginning(scratch / "long", 4) == "0123");
  CHECK(*read_beginning(scratch / "long", 40) == "0123456789");
  fs::resize_file(scratch / "long", std::uintmax_t{1} << 40); // a hole: it uses no disk space
  CHECK_THAT(read_file(scratch / "long").error, Contains("1099511627776 bytes"));
}
