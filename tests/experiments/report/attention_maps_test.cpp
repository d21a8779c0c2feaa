// Tests of reading a run's attention.json, and of the messages for a damaged one.
#include "experiments/report/attention_maps.hpp"

#include "experiments/system/polling.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

using namespace heed;
namespace fs = std::filesystem;

namespace {

constexpr const char* good = R"({"examples": [{"input": "ab", "heads": [
  {"module": "blocks.0.attention", "head": 1, "entropy": 0.5, "distance": null,
   "queries": ["a", "b"], "keys": ["x", "y", "z"], "weights": [[1, 0, 0], [0.25, 0.25, 0.5]]}]}]})";

std::string error_of(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return attention_from_json(text).error;
}

AttentionExample example_of(const std::string& input, std::vector<double> weights) {
  AttentionExample example;
  example.input = input;
  example.step = 500;
  example.heads.push_back({"blocks.0.attention", 1, 0.5, std::nullopt, {"a", "\n"}, {"x", "y"}, std::move(weights)});
  return example;
}

} // namespace

TEST_CASE("attention weights are read by example, head, query and key", "[report]") {
  const auto examples = attention_from_json(good);
  REQUIRE(examples);
  REQUIRE(examples->size() == 1);
  CHECK(examples->front().input == "ab");
  const AttentionMap& map = examples->front().heads.at(0);
  CHECK(map.module == "blocks.0.attention");
  CHECK(map.head == 1);
  CHECK(*map.entropy == 0.5);
  CHECK_FALSE(map.distance);
  CHECK(map.queries == std::vector<std::string>{"a", "b"});
  CHECK(map.keys == std::vector<std::string>{"x", "y", "z"});
  CHECK(map.weights == std::vector<double>{1, 0, 0, 0.25, 0.25, 0.5});
}

TEST_CASE("a damaged file says where it is damaged", "[report]") {
  CHECK(error_of(good, R"("head": 1)", R"("head": "one")") ==
        "example 1, entry 1 of its heads: \"head\" is not a whole number");
  CHECK(error_of(good, "[1, 0, 0]", "[1, 0]") ==
        "example 1, entry 1 of its heads: it has a row of weights that is not one number for each of the 3 keys");
  CHECK(error_of(good, "[1, 0, 0], ", "") == "example 1, entry 1 of its heads: it has 1 rows of weights for 2 queries");
  CHECK(error_of(good, "\"input\"", "\"text\"") == "example 1: it has no \"input\"");
  CHECK_FALSE(attention_from_json("{\"examples\": [").error.empty());
  CHECK_FALSE(attention_from_json("[]").error.empty());
}

TEST_CASE("a run's attention weights are kept, with what made them, and read again", "[report]") {
  const Scratch scratch;
  const RunFolder run{scratch.path};
  REQUIRE(read_attention(run));
  CHECK(read_attention(run)->empty());
  AttentionExample example = example_of("ab", {1, 0, 0.25, 0.75});
  example.output = "yx";
  example.forced = true;
  example.average = 3;
  write_attention(run, {example, example_of("b", {0, 1, 1, 0})});
  const auto read = read_attention(run);
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  const AttentionExample& again = read->front();
  CHECK(again.input == "ab");
  CHECK(again.output == "yx");
  CHECK(again.forced);
  CHECK(again.step == 500);
  CHECK(again.average == 3);
  CHECK(again.heads.at(0).queries == std::vector<std::string>{"a", "\n"});
  CHECK(again.heads.at(0).weights == std::vector<double>{1, 0, 0.25, 0.75});
  CHECK(again.heads.at(0).entropy == 0.5);
  CHECK_FALSE(again.heads.at(0).distance);
  CHECK_FALSE((*read)[1].output);
  CHECK_FALSE((*read)[1].forced);
}

TEST_CASE("kept weights have five significant digits", "[report]") {
  const Scratch scratch;
  write_attention(RunFolder{scratch.path}, {example_of("a", {1.0 / 3, 2.0 / 3, 0.000123456789, 0.999876543})});
  const auto read = read_attention(RunFolder{scratch.path});
  CHECK(read->front().heads.front().weights == std::vector<double>{0.33333, 0.66667, 0.00012346, 0.99988});
}

TEST_CASE("a weight that is not a number is null in the file, and read again as what it is", "[report]") {
  const Scratch scratch;
  const RunFolder run = prepare_run(scratch.path, "0123456789abcdef", "");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write_attention(run, {example_of("a", {nan, 1, 0.5, -nan})});
  CHECK_THAT(content(run.attention().path()), Catch::Contains("[[null,1E0],[5E-1,null]]"));
  const auto read = read_attention(run);
  REQUIRE(read);
  const std::vector<double>& weights = read->at(0).heads.at(0).weights;
  CHECK(std::isnan(weights[0]));
  CHECK(weights[2] == 0.5);
  CHECK(std::isnan(weights[3]));
}

TEST_CASE("an example takes the place of the one with its input", "[report]") {
  const auto inputs = [](const std::vector<AttentionExample>& examples) {
    std::vector<std::string> out;
    for (const AttentionExample& e : examples) out.push_back(e.input);
    return out;
  };
  const std::vector<AttentionExample> kept{example_of("a", {1, 0, 0, 1}), example_of("b", {1, 0, 0, 1})};
  const auto all = merged(kept, {example_of("a", {0, 1, 1, 0}), example_of("c", {1, 0, 1, 0})});
  CHECK(inputs(all) == std::vector<std::string>{"a", "b", "c"});
  CHECK(all[0].heads[0].weights == std::vector<double>{0, 1, 1, 0});
  CHECK(all[1].heads[0].weights == std::vector<double>{1, 0, 0, 1});
  CHECK(inputs(merged({}, kept)) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a file that is damaged is named", "[report]") {
  const Scratch scratch;
  write_file(scratch.path / "attention.json", "{\"examples\": 1}");
  const auto read = read_attention(RunFolder{scratch.path});
  CHECK_FALSE(read);
  CHECK_THAT(read.error, Catch::Contains((scratch.path / "attention.json").string()) && Catch::Contains("examples"));
}

TEST_CASE("who changes kept weights at once with others undoes nothing of theirs", "[report]") {
  const Scratch scratch;
  const RunFolder run{scratch.path};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i)
        update_attention(run, [&](std::vector<AttentionExample>& kept) {
          kept = merged(std::move(kept), {example_of(std::to_string(5 * t + i), {0, 1, 1, 0})});
        });
    });
  for (std::thread& thread : all) thread.join();
  CHECK(read_attention(run)->size() == 20);

  put(run.attention(), "{");
  CHECK(update_attention(run, [](std::vector<AttentionExample>& kept) { CHECK(kept.empty()); }).find("is damaged") !=
        std::string::npos);
  CHECK(read_attention(run)->empty());
}

TEST_CASE("a wait for another process that changes kept weights can be stopped", "[report]") {
  struct Stopped {};
  const Scratch scratch;
  const RunFolder run{scratch.path};
  put(scratch / "attention.claim", "");
  fs::last_write_time(scratch / "attention.claim", fs::file_time_type::clock::now() + std::chrono::hours(1));
  int asked = 0;
  const PollScope polls([&] {
    if (++asked == 2) throw Stopped();
  });
  CHECK_THROWS_AS(update_attention(run, [](std::vector<AttentionExample>&) { FAIL("changed"); }), Stopped);
  CHECK_FALSE(run.attention().exists());
}
