// What is read of a run's attention.json, and what is said of a damaged one.
#include "experiments/report/attention_maps.hpp"

#include <catch2/catch.hpp>

using namespace heed;

namespace {

constexpr const char* good = R"({"examples": [{"input": "ab", "heads": [
  {"module": "blocks.0.attention", "head": 1, "entropy": 0.5, "distance": null,
   "queries": ["a", "b"], "keys": ["x", "y", "z"], "weights": [[1, 0, 0], [0.25, 0.25, 0.5]]}]}]})";

std::string error_of(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return attention_from_json(text).error;
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
        "example 1, entry 1 of its heads: \"head\" is not a number");
  CHECK(error_of(good, "[1, 0, 0]", "[1, 0]") ==
        "example 1, entry 1 of its heads: has a row of weights that is not one number for each of the 3 keys");
  CHECK(error_of(good, "[1, 0, 0], ", "") ==
        "example 1, entry 1 of its heads: has 1 rows of weights for 2 queries");
  CHECK(error_of(good, "\"input\"", "\"text\"") == "example 1: has no \"input\"");
  CHECK_FALSE(attention_from_json("{\"examples\": [").error.empty());
  CHECK_FALSE(attention_from_json("[]").error.empty());
}
