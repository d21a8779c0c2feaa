// Tests of the data cache: data is computed once, is never wrong whatever happens to the cache's files, and stays in
// memory if it cannot be stored.
#include "experiments/data/data_cache.hpp"

#include "autograd/error.hpp"
#include "experiments/system/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/data/data_cache_support.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace heed;
using namespace heed::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Writes two sections and counts the calls.
struct Maker {
  std::string one = "numbers and words, not a multiple of any size";
  std::vector<std::int32_t> two = {1, -2, 3};
  int calls = 0;

  std::function<void(DataCacheWriter&)> make() {
    return [this](DataCacheWriter& to) {
      ++calls;
      to.begin("one", Check::when_used, one.size());
      to.write(std::as_bytes(std::span(one).first(7)));
      to.write(std::as_bytes(std::span(one).subspan(7)));
      to.begin("two");
      to.write_numbers(std::span<const std::int32_t>(two));
    };
  }
  bool is_in(const DataCache& data) const {
    const auto numbers = data.numbers<std::int32_t>("two");
    return text_of(data.section("one")) == one && std::ranges::equal(numbers, two) && data.section("none").empty();
  }
};

} // namespace

TEST_CASE("data is made once and found again", "[data][kept]") {
  const Scratch scratch;
  Maker maker;
  const auto made = data_cache({scratch.path}, "key", maker.make()),
             found = data_cache({scratch.path}, "key", maker.make());
  CHECK(maker.calls == 1);
  CHECK((maker.is_in(*made) && maker.is_in(*found)));
  CHECK((found->is_whole("one") && !found->is_whole("none")));
  CHECK(files_in(scratch.path, ".kept").size() == 1);
  for (const char* name : {"one", "two"})
    CHECK(reinterpret_cast<std::uintptr_t>(found->section(name).data()) % 64 == 0);

  Maker other;
  other.one = "something else";
  CHECK(other.is_in(*data_cache({scratch.path}, "key 2", other.make())));
  CHECK(other.calls == 1);
  // A file with the name of another entry is not accepted as that entry.
  const auto files = files_in(scratch.path, ".kept");
  fs::rename(files[0], files[1]);
  CHECK(maker.is_in(*data_cache({scratch.path}, "key", maker.make())));
  CHECK(other.is_in(*data_cache({scratch.path}, "key 2", other.make())));
}

TEST_CASE("data is in memory where there is no folder for it", "[data][kept]") {
  Maker maker;
  CHECK(maker.is_in(*data_cache({}, "key", maker.make())));
  CHECK(maker.is_in(*made_data(maker.make())));
  CHECK(maker.is_in(*data_cache({"/dev/null/folder"}, "key", maker.make())));
  CHECK(data_cache_place(least_cached_bytes - 1).folder.empty());
  const Scratch scratch;
  const Environment cache("XDG_CACHE_HOME", scratch.path.string());
  CHECK(data_cache_place(least_cached_bytes).folder == scratch.path / "heed" / "data");
  // If that folder cannot be made, the cache uses the folder for temporary files; if that fails too, it stores nothing.
  const Environment none("XDG_CACHE_HOME", "/dev/null/cache"), temporary("TMPDIR", scratch.path.string());
  CHECK(data_cache_place(least_cached_bytes).folder.parent_path() == scratch.path);
  const Environment no_temporary("TMPDIR", "/dev/null");
  CHECK(data_cache_place(least_cached_bytes).folder.empty());
}

TEST_CASE("a damaged file is made anew and never taken for whole", "[data][kept]") {
  const Scratch scratch;
  Maker maker;
  data_cache({scratch.path}, "key", maker.make());
  const fs::path file = files_in(scratch.path, ".kept").front();
  const std::string whole = *read_file(file);
  const auto check = [&](const std::string& damaged, std::size_t at) {
    INFO("at " << at);
    // as the program writes it: processes with the old file open still see the old file
    write_file(file, damaged, Durability::process);
    const int before = maker.calls;
    const auto data = data_cache({scratch.path}, "key", maker.make());
    REQUIRE(std::ranges::equal(data->numbers<std::int32_t>("two"), maker.two));
    if (text_of(data->section("one")) == maker.one) return;
    REQUIRE(maker.calls == before); // the damage is found when the data is used
    REQUIRE(!data->is_whole("one"));
    REQUIRE(!fs::exists(file));
    REQUIRE(maker.is_in(*data_cache({scratch.path}, "key", maker.make())));
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    check(damaged, i);
    check(whole.substr(0, i), i);
  }
  check(whole + "x", whole.size());
  fs::remove(file);
  fs::create_directory(file); // nothing can be written there
  CHECK(maker.is_in(*data_cache({scratch.path}, "key", maker.make())));
}

TEST_CASE("data whose file is shortened or written to while it is used says so, and is made anew", "[data][kept]") {
  const Scratch scratch;
  Maker maker;
  maker.one = std::string(20'000, 'x') + "end";
  const auto data = data_cache({scratch.path}, "key", maker.make());
  const fs::path file = files_in(scratch.path, ".kept").front();
  REQUIRE(data->is_whole("one"));
  CHECK(data->problem().empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(30)); // longer than a tick of the kernel's clock
  const std::string whole = *read_file(file);

  SECTION("what changes nothing of it is no problem") {
    fs::last_write_time(file, fs::file_time_type::clock::now());
    CHECK(data->problem().empty());
    put(file, whole); // in place
    CHECK(data->problem().empty());
    fs::remove(file);
    CHECK(data->problem().empty());
    CHECK(maker.is_in(*data));
    return;
  }
  SECTION("all of it is gone") { fs::resize_file(file, 0); }
  SECTION("the end of it is gone") { fs::resize_file(file, whole.size() - 1); }
  SECTION("a part of a section is gone, and its page is there") { fs::resize_file(file, 19'000); }
  SECTION("it is gone and comes back as zeros") {
    fs::resize_file(file, 0);
    fs::resize_file(file, whole.size());
  }
  SECTION("a byte is another") {
    std::string other = whole;
    other[11'111] = 'y';
    put(file, other);
  }
  std::size_t size = 0;
  for (const char c : text_of(data->section("one"))) size += c != 'z';
  CHECK(size == maker.one.size()); // no process crashes because of it
  CHECK(data->problem() ==
        "'" + file.string() + "' was shortened or changed while it was read; run again, and it is made anew");
  const auto again = data_cache({scratch.path}, "key", maker.make());
  CHECK((maker.is_in(*again) || !again->is_whole("one")));
  CHECK(maker.is_in(*data_cache({scratch.path}, "key", maker.make())));
}

TEST_CASE("where it can't be written, data is in memory and nothing is left", "[data][kept]") {
  for (const int error : {ENOSPC, EROFS, EDQUOT})
    for (int n = 0;; ++n) {
      const Scratch scratch;
      Maker maker;
      int left = n;
      const WriteHook hook([&](const fs::path&) { return left-- == 0 ? error : 0; });
      CHECK(maker.is_in(*data_cache({scratch.path}, "key", maker.make())));
      if (left >= 0) { // no write failed
        CHECK(n > 5);
        break;
      }
      CHECK(fs::is_empty(scratch.path));
    }
}

TEST_CASE("what a maker refuses is passed on and leaves nothing", "[data][kept]") {
  const Scratch scratch;
  const auto refuse = [&](DataCacheWriter& to) {
    to.begin("one");
    throw Refused("it is not UTF-8");
  };
  CHECK(refusal([&] { data_cache({scratch.path}, "key", refuse); }) == "it is not UTF-8");
  CHECK(fs::is_empty(scratch.path));
}

TEST_CASE("several at once make data once", "[data][kept]") {
  const Scratch scratch;
  std::atomic<int> calls = 0, right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Maker maker;
      const auto data = data_cache({scratch.path}, "key", [&](DataCacheWriter& to) {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        maker.make()(to);
      });
      right += maker.is_in(*data);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(calls == 1);
  CHECK(right == 4);
  // A process that is killed while it holds the lock does not block others, and its temporary file is removed.
  const pid_t killed = ::fork();
  if (killed == 0) {
    data_cache({scratch.path}, "another key", [&](DataCacheWriter& to) {
      to.begin("one");
      ::_exit(0);
    });
    ::_exit(1);
  }
  ::waitpid(killed, nullptr, 0);
  CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 2);
  Maker maker;
  CHECK(maker.is_in(*data_cache({scratch.path}, "another key", maker.make())));
  CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 2);
}

TEST_CASE("old files go when a new one comes", "[data][kept]") {
  const Scratch scratch;
  Maker maker;
  const auto keep = [&](const std::string& key, std::uint64_t most = 1 << 20) {
    return data_cache({scratch.path, most, 14}, key, maker.make());
  };
  const auto age = [&](const fs::path& file, int hours) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  const auto first = keep("first");
  const fs::path old = files_in(scratch.path, ".kept").front();
  const std::uint64_t size = fs::file_size(old);
  age(old, 15 * 24);
  CHECK(keep("first")); // it is in use
  keep("second");
  CHECK(files_in(scratch.path, ".kept").size() == 2);
  age(old, 15 * 24);
  keep("third");
  CHECK(files_in(scratch.path, ".kept").size() == 2);
  CHECK(!fs::exists(old));
  CHECK((maker.is_in(*first) && first->is_whole("one"))); // a process that has the file mapped can still read it

  for (const fs::path& file : files_in(scratch.path, ".kept")) age(file, 2);
  keep("fourth", 2 * size + size / 2);
  CHECK(files_in(scratch.path, ".kept").size() == 2);
  keep("fifth", 1);
  CHECK(files_in(scratch.path, ".kept").size() == 1);
  const int before = maker.calls;
  keep("fifth", 1);
  CHECK(maker.calls == before);
}

TEST_CASE("fields are read as they were written", "[data][kept]") {
  FieldWriter to;
  to.number(-3).real(0.1).text("").text(std::string_view("a\0b", 3)).number(7);
  FieldReader from(to.bytes());
  CHECK(from.number() == -3);
  CHECK(from.real() == 0.1);
  CHECK(from.text().empty());
  CHECK(from.text() == std::string_view("a\0b", 3));
  CHECK(!from.whole());
  CHECK(from.number() == 7);
  CHECK(from.whole());
  CHECK(from.number() == 0);
  CHECK((!from.whole() && !from));
  FieldReader beyond(to.bytes().first(12));
  beyond.number();
  CHECK((beyond.real() == 0 && !beyond));
}
