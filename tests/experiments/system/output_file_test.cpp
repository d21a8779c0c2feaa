// Tests that file operations below an output folder never leave it, whatever another user has put there.
#include "experiments/system/output_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// An output folder with OUT/a/file, and a file of the user's outside of it.
struct Place {
  Scratch out, outside;
  OutputFile file{out.path, "a/file"};

  Place() {
    put(outside / "precious", "not to be lost\n");
    fs::create_directory(outside / "folder");
    put(outside / "folder" / "file", "nor this\n");
    OutputFile(out.path, "a/").make_folder();
  }
  /// Checks that nothing outside was changed or created.
  void check_outside() const {
    CHECK(content(outside / "precious") == "not to be lost\n");
    CHECK(content(outside / "folder" / "file") == "nor this\n");
    CHECK(entries(outside.path) == 2);
    CHECK(entries(outside / "folder") == 1);
  }
};

/// All operations that change something, by name.
const std::vector<std::pair<std::string, std::function<void(const OutputFile&)>>> changes{
    {"write", [](const OutputFile& f) { f.write("mine\n"); }},
    {"write in parts",
     [](const OutputFile& f) {
       NewFile file = f.create();
       file.write("mine\n");
       file.finish();
     }},
    {"append a line", [](const OutputFile& f) { f.append_line("mine"); }},
    {"open to append", [](const OutputFile& f) { f.open_to_append(); }},
    {"synchronise", [](const OutputFile& f) { f.synchronise(); }},
    {"remove", [](const OutputFile& f) { f.remove(); }},
    {"set aside", [](const OutputFile& f) { f.set_aside(); }},
    {"copy aside", [](const OutputFile& f) { f.copy_aside(); }},
    {"make a folder", [](const OutputFile& f) { f.make_folder(); }},
    {"remove what was left", [](const OutputFile& f) { f.remove_leftovers(); }},
    {"touch", [](const OutputFile& f) { f.touch(); }}};

} // namespace

TEST_CASE("a file below an output folder is written, read, looked at and removed", "[system][output]") {
  const Place place;
  const OutputFile& file = place.file;
  CHECK_FALSE(file.exists());
  CHECK(file.read().is_missing());
  file.write("one\n");
  file.append_line("two");
  CHECK(file.exists());
  CHECK(file.is_regular_file());
  CHECK(*file.read() == "one\ntwo\n");
  CHECK(*file.read_beginning(3) == "one");
  CHECK(file.open()->size() == 8);
  CHECK(file.identity()->size == 8);
  CHECK(OutputFile(place.out.path, "a").is_folder());
  CHECK(*OutputFile(place.out.path, "a").names() == std::vector<std::string>{"file"});
  CHECK(OutputFile(place.out.path, "none").names()->empty());
  file.remove();
  file.remove();
  CHECK(entries(place.out / "a") == 0);
  OutputFile(place.out.path, "b/c/d").make_folder();
  OutputFile(place.out.path, "b/c/d").make_folder();
  CHECK(fs::is_directory(place.out / "b/c/d"));
}

TEST_CASE("no link below an output folder is followed, to a file or to a folder", "[system][output]") {
  for (const auto& [what, change] : changes) {
    for (const bool folder : {false, true}) {
      const Place place;
      if (folder) {
        fs::remove(place.out / "a");
        fs::create_directory_symlink(place.outside / "folder", place.out / "a");
      } else {
        fs::create_symlink(place.outside / "precious", place.out / "a/file");
      }
      INFO(what << (folder ? ", in a folder that is a link" : ", of a link"));
      try {
        change(place.file);
      } catch (const Failed& failed) {
        CHECK_THAT(failed.what(), Contains("a/file") || Contains("/a'"));
      }
      place.check_outside();
      if (!folder && !fs::is_symlink(place.out / "a/file")) continue; // it was replaced, or now has another name
      CHECK_FALSE(place.file.read());
      CHECK_FALSE(place.file.open());
      CHECK_FALSE(place.file.read_beginning(3));
    }
  }
  const Place place;
  fs::create_symlink(place.outside / "precious", place.out / "a/file");
  CHECK_THAT(place.file.read().error, Contains("a link stands there"));
  CHECK_FALSE(place.file.read().is_unreadable()); // it counts as damaged
  CHECK_THROWS_WITH(place.file.append_line("x"), Contains("a link stands there") && Contains("replace the link"));
  CHECK(place.file.exists());
  CHECK_FALSE(place.file.is_regular_file());
  // The user's own output folder may be a link.
  fs::create_directory_symlink(place.out.path, place.outside / "runs");
  OutputFile(place.outside / "runs", "a/other").write("mine");
  CHECK(content(place.out / "a/other") == "mine");
}

TEST_CASE("a link that points nowhere is not followed to make something there", "[system][output]") {
  for (const auto& [what, change] : changes) {
    const Place place;
    fs::create_symlink(place.outside / "new", place.out / "a/file");
    INFO(what);
    try {
      change(place.file);
    } catch (const Failed&) {
    }
    place.check_outside();
  }
}

TEST_CASE("a name that leads out of the output folder is none in it", "[system][output]") {
  const Place place;
  for (const char* name : {"../precious", "a/../../x", "..", "/etc/hostname"}) {
    const OutputFile out(place.out.path, name);
    INFO(name);
    CHECK_FALSE(out.read());
    CHECK_THROWS_AS(out.write("x"), Failed);
    CHECK_THROWS_AS(out.append_line("x"), Failed);
    CHECK_THROWS_AS(out.make_folder(), Failed);
  }
}

TEST_CASE("pipes and folders in place of files are damage, and never waited for", "[system][output]") {
  for (const auto& [what, change] : changes) {
    const Place place;
    REQUIRE(::mkfifo((place.out / "a/file").c_str(), 0600) == 0);
    INFO(what);
    try {
      change(place.file);
    } catch (const Failed&) {
    }
  }
  const Place place;
  REQUIRE(::mkfifo((place.out / "a/file").c_str(), 0600) == 0);
  CHECK_THAT(place.file.read().error, Contains("it is a pipe"));
  CHECK(place.file.read().problem == ReadProblem::damaged);
  CHECK_THROWS_AS(place.file.append_line("x"), Failed);
  CHECK_THROWS_AS(place.file.open_to_append(), Failed);
}

TEST_CASE("a file that is appended to is a regular one, and nothing else is waited for", "[system][output]") {
  const Scratch scratch;
  const auto append = [&](const char* name, const std::string& text) {
    const Descriptor file = OutputFile(scratch.path, name).open_to_append();
    CHECK(::write(file.get(), text.data(), text.size()) == std::ssize(text));
  };
  append("log", "one ");
  append("log", "two");
  CHECK(content(scratch / "log") == "one two");
  const auto refused = [&](const char* name, const char* why) {
    CHECK_THROWS_WITH(OutputFile(scratch.path, name).open_to_append(), Contains(name) && Contains(why));
  };
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0666) == 0);
  refused("pipe", "a pipe stands where the file should be");
  const Descriptor reader(::open((scratch / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  refused("pipe", "a pipe stands where the file should be"); // another process may hold its other end
  fs::create_directory(scratch / "folder");
  refused("folder", "a folder stands where the file should be");
  fs::create_symlink(scratch / "log", scratch / "link");
  refused("link", "a link stands there");
  refused("none/log", "no such");
  CHECK(content(scratch / "log") == "one two");
}

TEST_CASE("what can't be read now is told from what is missing and from what is damaged", "[system][output]") {
  const Place place;
  place.file.write("whole");
  for (const int error : {EACCES, EIO, ESTALE, EMFILE}) {
    const ReadHook hook([&](const fs::path&) { return error; });
    CHECK(place.file.read().is_unreadable());
    CHECK(place.file.open().is_unreadable());
    CHECK(OutputFile(place.out.path, "a").names().is_unreadable());
    CHECK(place.file.exists()); // it may exist, as far as is known
    CHECK_THROWS_AS(require_readable(place.file.read()), Unreadable);
  }
  CHECK(*place.file.read() == "whole");
  CHECK(OutputFile(place.out.path, "a/none").read().is_missing());
  CHECK_NOTHROW(require_readable(OutputFile(place.out.path, "a/none").read()));
}

TEST_CASE("what is set aside has a name of its own beside the file", "[system][output]") {
  const Place place;
  for (const char* text : {"one", "two", "three"}) {
    place.file.write(text);
    const OutputFile to = place.file.set_aside();
    CHECK(content(to.path()) == text);
    CHECK_FALSE(place.file.exists());
  }
  CHECK(content(place.out / "a/file.damaged") == "one");
  CHECK(content(place.out / "a/file.damaged-2") == "two");
  CHECK(content(place.out / "a/file.damaged-3") == "three");
  place.file.write("four");
  CHECK(content(place.file.copy_aside().path()) == "four");
  place.file.write("five"); // replaced by a new file, so the copy is unchanged
  CHECK(content(place.out / "a/file.damaged-4") == "four");
}

TEST_CASE("who may not change a file any more is asked right before each change, and changes nothing",
          "[system][output]") {
  struct NotMine : Failed {
    using Failed::Failed;
  };
  for (const auto& [what, change] : changes) {
    if (what == "make a folder" || what == "remove what was left" || what == "synchronise" || what == "touch" ||
        what == "open to append")
      continue; // these operations remove nothing
    const Place place;
    place.file.write("theirs\n");
    INFO(what);
    int asked = 0;
    const OutputFile mine(place.out.path, "a/file", [&] {
      ++asked;
      throw NotMine("it is another's");
    });
    CHECK_THROWS_AS(change(mine), NotMine);
    CHECK(asked == 1);
    CHECK(content(place.file.path()) == "theirs\n");
    CHECK(entries(place.out / "a") == 1);
  }
}

TEST_CASE("a sparse file in place of a text is damaged, and not read to its end", "[system][output]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "record");
  put(file.path(), "{\"a\": 1}\n");
  fs::resize_file(file.path(), largest_record);
  const auto read = file.read();
  CHECK(read.problem == ReadProblem::damaged);
  CHECK_THAT(read.error, Contains("its byte 9 is zero"));
  fs::resize_file(file.path(), largest_record + 1);
  CHECK_THAT(file.read().error, Contains("it has 1073741825 bytes, and at most 1073741824 make sense there"));
  // Data of the user may have any bytes.
  put(file.path(), std::string("a\0b", 3));
  CHECK(*read_file(file.path()) == std::string("a\0b", 3));
}

TEST_CASE("the end of a log is read, whatever its size", "[system][output]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "log.txt");
  CHECK(file.read_end(10).is_missing());
  put(file.path(), "before\nafter\n");
  CHECK(*file.read_end(6) == "after\n");
  CHECK(*file.read_end(100) == "before\nafter\n");
  CHECK(*file.read_end(100, 7) == "after\n");
  CHECK(file.read_end(100, 50)->empty());
}
