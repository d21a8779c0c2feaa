// Tests of the IDs and checksums of the runs that others start from (Settings::use_starts), and of the options of a
// start.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <fmt/format.h>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

/// Completes "a" to "aaaaaaaaaaaaaaaa", whose checksum is "sum of a"; refuses "z".
Settings::Start found(const std::string& run) {
  if (run == "z") throw Refused("there is none");
  return {std::string(16, run.front()), fmt::format("sum of {}", run.front())};
}

Settings completed(const std::string& toml, const std::vector<std::string>& assignments = {}) {
  Settings settings = Settings::parse(toml, "x.toml");
  settings.override_with(assignments);
  settings.use_starts(found);
  return settings;
}

} // namespace

TEST_CASE("the run that another starts from has its full ID and its checksum", "[config][starts]") {
  const Config file = completed("train.start = \"a\"").resolve();
  CHECK(file.train.start == "aaaaaaaaaaaaaaaa");
  CHECK(file.train.start_checksum == "sum of a");
  const Config line = completed("train.start = \"a\"", {"train.start=b"}).resolve();
  CHECK(line.train.start == "bbbbbbbbbbbbbbbb");
  CHECK(line.train.start_checksum == "sum of b");
  CHECK(completed("train.start = \"a\"\ntrain.start_checksum = \"own\"").resolve().train.start_checksum == "own");
  const Config none = completed("train.start = \"a\"", {"train.start=@default"}).resolve();
  CHECK(none.train.start.empty());
  CHECK(none.train.start_checksum.empty());
  // A saved configuration is complete.
  const Config again = Settings::parse_saved(to_toml(line), "run").resolve();
  CHECK(again.train.start == line.train.start);
  CHECK(again.train.start_checksum == line.train.start_checksum);
}

TEST_CASE("each place of a sweep completes its starts", "[config][starts]") {
  const Settings settings = completed(R"(
[sweep]
seeds = 2
[sweep.tune]
seeds = [7]
grid = { "train.start" = ["h"] }
[[sweep.block]]
grid = { "train.start" = ["a", "", "b"] }
exclude = [{ "train.start" = "c" }]
require = [{ "train.start" = "d" }]
[[sweep.block]]
kind = "list"
arms.one = { "train.start" = "e", "model.layers" = 3 }
[[sweep.block]]
kind = "random"
count = 1
seed = 1
random = { "train.start" = { choice = ["f", "g"] } }
)");
  const SweepSpec& sweep = settings.sweep();
  const auto id = [](char digit) { return Value(std::string(16, digit)); };
  const SweepBlock& grid = sweep.blocks.at(0);
  CHECK(grid.axes.at(0).second.at(0).value == id('a'));
  CHECK(grid.axes.at(0).second.at(1).value == Value(std::string()));
  CHECK(grid.axes.at(0).second.at(2).value == id('b'));
  CHECK(grid.exclude.at(0).at(0).value == id('c'));
  CHECK(grid.require.at(0).at(0).value == id('d'));
  CHECK(sweep.blocks.at(1).sets.at(0).changes.at(0).value == id('e'));
  CHECK(sweep.blocks.at(2).draws.at(0).values.at(1).value == id('g'));
  CHECK(sweep.tune->axes.at(0).second.at(0).value == id('h'));
  for (const char start : {'a', 'e', 'g', 'h'})
    CHECK(settings.with({{"train.start", id(start), {}}}).resolve().train.start_checksum ==
          fmt::format("sum of {}", start));
}

TEST_CASE("a start that is not found is refused with its place", "[config][starts]") {
  CHECK(refusal([] { completed("[train]\nstart = \"z\""); }) == "x.toml:2:1: train.start = \"z\": there is none");
  CHECK(refusal([] { completed("", {"train.start=z"}); }) == "command line: train.start = \"z\": there is none");
  CHECK_THAT(refusal([] {
               completed("[sweep]\nseeds = 2\n[[sweep.block]]\ngrid = { \"train.start\" = [\"a\", \"z\"] }");
             }),
             Contains("x.toml:4:") && Contains("train.start = \"z\": there is none"));
}

TEST_CASE("options of a start, and of initial weights, have an effect only with or without a start",
          "[config][starts]") {
  CHECK_THAT(refusal_of("train.start_weights = \"matching\""), Contains("train.start"));
  CHECK_THAT(refusal_of("train.start_checksum = \"0\""), Contains("train.start"));
  const std::string start = "train.start = \"a\"\n", matching = start + "train.start_weights = \"matching\"\n";
  for (const std::string initial : {"model.init_std = 0.1", "model.scaled_init = false", "init.linear = 0.1",
                                    "init.embedding = 0.1", "init.linear = \"xavier_normal\"\ninit.qkv = \"joint\"",
                                    "block.connection = \"highway\"\nblock.gate_bias = -1"}) {
    INFO(initial);
    CHECK_THAT(refusal_of(start + initial), Contains("train.start"));
    CHECK(refusal_of(matching + initial).empty());
    CHECK(refusal_of(initial).empty());
  }
  // Set by the file, they are dropped where the command line chooses the start.
  CHECK(config("model.init_std = 0.1", {"train.start=a"}).model.init_std == ModelOptions{}.init_std);
}

TEST_CASE("without a start, its options are no part of the identity", "[config][starts]") {
  for (const FlatOption& option : flatten(config("")))
    if (option.key.starts_with("train.start")) CHECK_FALSE(option.identifies);
  const std::vector<FlatOption> with = flatten(config("train.start = \"a\"\ntrain.start_checksum = \"s\""));
  for (const char* key : {"train.start", "train.start_checksum"}) {
    const auto found = std::ranges::find(with, key, &FlatOption::key);
    REQUIRE(found != with.end());
    CHECK(found->identifies);
  }
}
