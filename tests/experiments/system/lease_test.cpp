#include "experiments/system/lease.hpp"

#include "autograd/error.hpp"
#include "experiments/system/polling.hpp"
#include "tests/experiments/system/scratch.hpp"

#include "tests/catch.hpp"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace heed {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;
using Catch::EndsWith;
namespace fs = std::filesystem;

/// A process on another machine.
LeaseOwner elsewhere() { return {"another", "another-boot", "pid:[1]", 4242, 17, "12_3"}; }

constexpr LeaseTimes quick{20ms, 200ms};

/// A process that ran and has ended.
template <class Act> void in_child(const Act& act) {
  const pid_t child = fork();
  if (child == 0) {
    act();
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}

/// A lease of another machine whose owner died without releasing it.
void leave_foreign(const OutputFile& file) {
  in_child([&] {
    const auto lease = Lease::attempt(file, {1h, 2h}, elsewhere());
    if (lease) ::kill(::getpid(), SIGKILL);
  });
}

} // namespace

TEST_CASE("a lease is one owner's, and its file goes with it", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  CHECK_FALSE(Lease::held(file));
  {
    const auto lease = Lease::attempt(file);
    REQUIRE(lease);
    CHECK_FALSE(lease->lost());
    CHECK_FALSE(Lease::attempt(file));
    const auto owner = Lease::owner(file);
    REQUIRE(owner);
    CHECK(*owner == this_process());
    CHECK(owner->process == ::getpid());
    int asked = 0;
    CHECK_FALSE(Lease::wait(file, [&] { return ++asked == 2; }));
  }
  CHECK_FALSE(Lease::held(file));
  CHECK(fs::is_empty(scratch.path)); // neither the file nor a draft
  CHECK(Lease::attempt(file));
}

TEST_CASE("a lease is lost at once where its process was killed, and with a copy of the file", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  in_child([&] {
    const auto lease = Lease::attempt(file);
    if (lease) ::kill(::getpid(), SIGKILL);
  });
  CHECK(fs::exists(file.path()));
  CHECK_FALSE(Lease::held(file));
  {
    const auto lease = Lease::attempt(file);
    REQUIRE(lease);
    const OutputFile copy(scratch.path, "copy");
    fs::copy_file(file.path(), copy.path());
    CHECK(Lease::held(file));
    CHECK_FALSE(Lease::held(copy));
    CHECK(Lease::attempt(copy));
  }
}

TEST_CASE("a process number that another process has now owns nothing", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  LeaseOwner earlier = this_process();
  earlier.started -= 1;
  in_child([&] {
    const auto lease = Lease::attempt(file, {}, earlier);
    if (lease) ::kill(::getpid(), SIGKILL);
  });
  REQUIRE(fs::exists(file.path()));
  CHECK_FALSE(Lease::held(file));
}

TEST_CASE("another start of a machine of this name proves no death: the lease is waited out", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  LeaseOwner namesake = this_process();
  namesake.boot = "another start, perhaps of another machine";
  in_child([&] {
    const auto lease = Lease::attempt(file, {1h, 2h}, namesake);
    if (lease) ::kill(::getpid(), SIGKILL);
  });
  REQUIRE(fs::exists(file.path()));
  CHECK(Lease::held(file));
  CHECK_FALSE(Lease::attempt(file));
  std::this_thread::sleep_for(300ms);
  CHECK_FALSE(Lease::owner(file, quick));
  CHECK(Lease::attempt(file, quick));
}

TEST_CASE("an owner that was halted finds out that its lease is another's by asking the file", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  auto halted = Lease::attempt(file, {1h, 2h}, elsewhere()); // it does not renew the lease
  REQUIRE(halted);
  CHECK(halted->confirm());
  fs::last_write_time(file.path(), fs::file_time_type::clock::now() - 3h);
  {
    const auto next = Lease::attempt(file, {1h, 2h});
    REQUIRE(next);
    CHECK_FALSE(halted->lost()); // no call noticed it
    CHECK_FALSE(halted->confirm());
    CHECK(halted->lost());
  }
  // It does not get the lease back when the next owner releases it, either.
  CHECK_FALSE(fs::exists(file.path()));
  CHECK_FALSE(halted->confirm());
}

TEST_CASE("a lease whose file can't be read is neither taken nor waited for", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  leave_foreign(file);
  {
    const ReadHook unreadable([](const fs::path& path) { return path.filename() == "claim" ? EACCES : 0; });
    CHECK_THROWS_AS(Lease::attempt(file), Unreadable);
    CHECK_THROWS_WITH(Lease::attempt(file), Contains("claim': Permission denied"));
    CHECK_FALSE(Lease::held(file));
  }
  CHECK(Lease::held(file));
  fs::remove(file.path());
  put(scratch / "target", "something else");
  fs::create_symlink(scratch / "target", file.path());
  CHECK_THROWS_WITH(Lease::attempt(file), Contains("a link stands there"));
  CHECK(content(scratch / "target") == "something else");
}

TEST_CASE("another machine's lease lasts as long as it is renewed", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  leave_foreign(file);
  REQUIRE(fs::exists(file.path()));
  // As far as this machine can see, the lease was just renewed.
  REQUIRE(Lease::owner(file, {1s, 60s}));
  CHECK(Lease::owner(file, {1s, 60s})->job == "12_3");
  CHECK_FALSE(Lease::attempt(file, {1s, 60s}));
  // Not renewed for a long time.
  std::this_thread::sleep_for(300ms);
  CHECK_FALSE(Lease::owner(file, quick));
  const auto lease = Lease::attempt(file, quick);
  REQUIRE(lease);
  CHECK(*Lease::owner(file) == this_process());
  CHECK_FALSE(fs::exists(file.string() + ".replacing"));
}

TEST_CASE("a living owner renews its lease, which others then don't take", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  const auto lease = Lease::attempt(file, quick, elsewhere());
  REQUIRE(lease);
  const std::string before = content(file);
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(60ms);
    CHECK_FALSE(Lease::attempt(file, {20ms, 10s}));
  }
  CHECK(content(file) != before);
  CHECK(content(file).size() == before.size());
  CHECK_FALSE(lease->lost());
}

TEST_CASE("an owner that was halted for long learns that its lease is another's, and leaves it to that one",
          "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  std::optional<Lease> halted = Lease::attempt(file, {50ms, 10s}, elsewhere());
  REQUIRE(halted);
  fs::last_write_time(file.path(), fs::file_time_type::clock::now() - 1h);
  const auto next = Lease::attempt(file, {50ms, 1s});
  REQUIRE(next);
  for (int i = 0; i < 100 && !halted->lost(); ++i) std::this_thread::sleep_for(50ms);
  CHECK(halted->lost());
  halted.reset();
  CHECK(*Lease::owner(file) == this_process());
  CHECK_FALSE(next->lost());
}

TEST_CASE("a lease whose time lies in the future is lost as well, by the clock of the process that asks", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  const bool has_owner = GENERATE(true, false);
  if (has_owner) leave_foreign(file);
  else put(file.path(), ""); // what `touch` leaves
  fs::last_write_time(file.path(), fs::file_time_type::clock::now() + 24h * 365);
  const LeaseTimes times{100ms, 1s};
  CHECK(Lease::owner(file, times));
  CHECK_FALSE(Lease::attempt(file, times));
  CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 1); // a process that waits leaves nothing
  std::this_thread::sleep_for(500ms);
  CHECK_FALSE(Lease::attempt(file, times));
  std::this_thread::sleep_for(600ms);
  CHECK_FALSE(Lease::owner(file, times));
  CHECK(Lease::attempt(file, times));
}

TEST_CASE("an owner that renews a lease with a time in the future keeps it", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  const auto lease = Lease::attempt(file, {50ms, 10s}, elsewhere());
  REQUIRE(lease);
  for (int i = 0; i < 20; ++i) {
    fs::last_write_time(file.path(), fs::file_time_type::clock::now() + 24h * 365);
    CHECK_FALSE(Lease::attempt(file, {50ms, 1s}));
    std::this_thread::sleep_for(100ms);
  }
  CHECK_FALSE(lease->lost());
}

TEST_CASE("a process that died while it took over a lease holds no one up, whatever its file's time", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  in_child([&] {
    const auto lease = Lease::attempt(file);
    if (lease) ::kill(::getpid(), SIGKILL);
  });
  put(file.string() + ".replacing", "");
  fs::last_write_time(file.string() + ".replacing", fs::file_time_type::clock::now() + 24h);
  CHECK_FALSE(Lease::attempt(file, quick));
  CHECK_FALSE(Lease::make_free(file));
  CHECK_THAT(Lease::waited_for(file).in_words(), Contains("claim.replacing', which names no process: at most 120 s"));
  CHECK(Lease::wait(
      file, [] { return false; }, quick));
  CHECK_FALSE(fs::exists(file.string() + ".replacing"));
}

TEST_CASE("a process that has seen an owner die frees the lease for those that have seen nothing", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  CHECK(Lease::make_free(file));
  in_child([&] {
    const auto lease = Lease::attempt(file);
    if (lease) ::kill(::getpid(), SIGKILL);
  });
  CHECK(Lease::make_free(file));
  CHECK(fs::exists(file.path())); // every process of this machine sees that the owner is dead
  fs::last_write_time(file.path(), fs::file_time_type::clock::now() + 24h);
  CHECK(Lease::make_free(file));
  CHECK_FALSE(fs::exists(file.path()));
}

TEST_CASE("who waits for a lease says for what, and can be stopped", "[lease]") {
  struct Stopped {};
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  leave_foreign(file);
  fs::last_write_time(file.path(), fs::file_time_type::clock::now() + 24h);
  std::vector<std::string> said;
  const WaitScope waits([&](const std::string& what) { said.push_back(what); });
  {
    const PollScope polls([&] {
      if (!said.empty()) throw Stopped();
    });
    CHECK_THROWS_AS(Lease::wait(file), Stopped);
  }
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Contains("waiting for '" + file.string() + "' of process 4242 on another: at most 1") &&
                          Contains(" s, unless it is renewed"));
  // The end of a wait depends on nothing where the owner is seen to live.
  fs::remove(file.path());
  const auto own = Lease::attempt(file);
  CHECK_THAT(Lease::waited_for(file).in_words(), EndsWith(fmt::format("on {}", this_process().host)));
}

TEST_CASE("of many who take a dead owner's lease at once, one gets it", "[lease]") {
  const Scratch scratch;
  const OutputFile file(scratch.path, "claim");
  for (int round = 0; round < 20; ++round) {
    leave_foreign(file);
    REQUIRE(fs::exists(file.path()));
    fs::last_write_time(file.path(), fs::file_time_type::clock::now() - 1h);
    std::vector<std::optional<Lease>> got(8);
    {
      std::vector<std::jthread> threads;
      for (auto& mine : got) threads.emplace_back([&] { mine = Lease::attempt(file, {1h, 10min}, this_process()); });
    }
    CHECK(std::count_if(got.begin(), got.end(), [](const auto& mine) { return mine.has_value(); }) == 1);
    got.clear();
    CHECK_FALSE(fs::exists(file.path()));
  }
}

TEST_CASE("a lease in a folder that isn't there says so", "[lease]") {
  const Scratch scratch;
  CHECK_THROWS_WITH(Lease::attempt(OutputFile(scratch.path, "none/claim")),
                    Contains("none/claim") && Contains("choose another folder"));
}

} // namespace heed
