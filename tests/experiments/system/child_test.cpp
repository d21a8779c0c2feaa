// Tests of running another program to its end.
#include "experiments/system/child.hpp"
#include "tests/catch.hpp"

#include <csignal>

using namespace heed;

TEST_CASE("a program's outputs and status are had", "[system][child]") {
  const ChildResult result = run_child({"sh", "-c", "echo 'to '\"$1\"; echo aside >&2; exit 3", "sh", "out put"});
  CHECK(result.found);
  CHECK(result.in_time);
  CHECK(result.status == 3);
  CHECK(result.out == "to out put\n");
  CHECK(result.err == "aside\n");
  CHECK_FALSE(result.well());
  CHECK(run_child({"true"}).well());
}

TEST_CASE("more goes in and out than a pipe holds", "[system][child]") {
  const std::string much(1'000'000, 'x');
  const ChildResult both = run_child({"sh", "-c", "tee /dev/stderr"}, much);
  CHECK(both.well());
  CHECK(both.out == much);
  CHECK(both.err == much);
  CHECK(run_child({"true"}, much).well()); // it reads none of its input
  CHECK(run_child({"cat"}).out.empty());   // nothing to read is an end
}

TEST_CASE("a program that isn't there, is killed or takes too long", "[system][child]") {
  CHECK_FALSE(run_child({"heed-no-such-program"}).found);
  CHECK_FALSE(run_child({"heed-no-such-program"}).well());
  CHECK(run_child({"sh", "-c", "kill -9 $$"}).status == 128 + SIGKILL);
  const ChildResult slow = run_child({"sh", "-c", "echo first; exec sleep 600"}, {}, std::chrono::seconds(1));
  CHECK_FALSE(slow.in_time);
  CHECK_FALSE(slow.well());
  CHECK(slow.out == "first\n");
}

TEST_CASE("whether a program is in PATH", "[system][child]") {
  CHECK(has_program("sh"));
  CHECK_FALSE(has_program("heed-no-such-program"));
}
