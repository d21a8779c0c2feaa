// The task of word problems: products in plain arithmetic, what sequences have, and the accuracy of guessing.
#include "experiments/tasks/task_survey.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/places_support.hpp"

#include <cmath>
#include <map>
#include <set>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

OptionValues with(OptionValues options, const char* group, const char* generators = "all") {
  options["group"] = std::string(group);
  options["generators"] = std::string(generators);
  return options;
}

// First `a`, then `b`, by their images: 102 exchanges 0 and 1.
std::string composed(const std::string& a, const std::string& b) {
  std::string out;
  for (const char image : a) out += b[static_cast<std::size_t>(image - '0')];
  return out;
}

std::size_t moved(const std::string& p) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < p.size(); ++i) count += p[i] != static_cast<char>('0' + i) ? 1 : 0;
  return count;
}

} // namespace

TEST_CASE("a word problem of permutations has the product up to each place", "[tasks][group]") {
  struct Case {
    const char *group, *generators;
    std::size_t drawn, reached; // elements
  };
  for (const Case& c : {Case{"S3", "all", 6, 6},
                        {"S3", "swaps", 3, 6},
                        {"S4", "swaps_and_3_cycles", 14, 24},
                        {"S5", "swaps", 10, 120},
                        {"A4", "all", 12, 12},
                        {"A5", "all", 60, 60}}) {
    const Config config = small_config("group",
                                       with(whole_numbers({{"length", 24}, {"min_length", 6}}), c.group, c.generators));
    check_contract(config);
    std::set<std::string> drawn, reached;
    for (const Words& sequence : sequences_of(*make_task(config))) {
      INFO(c.group << ", " << c.generators << ": " << joined(sequence.tokens));
      std::string product = std::string("01234").substr(0, sequence.tokens[0].size());
      REQUIRE((sequence.tokens.size() >= 6 && sequence.tokens.size() <= 24));
      for (std::size_t t = 0; t < sequence.tokens.size(); ++t) {
        product = composed(product, sequence.tokens[t]);
        CHECK(sequence.targets[t] == product);
        drawn.insert(sequence.tokens[t]);
        reached.insert(product);
        if (c.generators != std::string("all")) CHECK(moved(sequence.tokens[t]) <= (c.drawn == 14 ? 3 : 2));
      }
    }
    CHECK(drawn.size() == c.drawn);
    CHECK(reached.size() == c.reached);
  }
}

TEST_CASE("a word problem of numbers has the sum up to each place, modulo n", "[tasks][group]") {
  const Config config = small_config("group", with(whole_numbers({{"length", 30}, {"test_length", 50}}), "Z2xZ30"));
  check_contract(config);
  const auto task = make_task(config);
  for (const Split split : {Split::train, Split::test})
    for (const Sequence& of : evaluation_sequences(*task, lm, split)) {
      const Words sequence = words_of(*task, of);
      CHECK((split == Split::train ? sequence.tokens.size() == 30
                                   : sequence.tokens.size() > 30 && sequence.tokens.size() <= 50));
      int two = 0, thirty = 0;
      for (std::size_t t = 0; t < sequence.tokens.size(); ++t) {
        const std::size_t comma = sequence.tokens[t].find(',');
        two = (two + std::stoi(sequence.tokens[t].substr(0, comma))) % 2;
        thirty = (thirty + std::stoi(sequence.tokens[t].substr(comma + 1))) % 30;
        CHECK(sequence.targets[t] == std::to_string(two) + "," + std::to_string(thirty));
      }
    }
  // Z2 is parity at each place.
  for (const Words& sequence : sequences_of(*make_task(small_config("group", with({}, "Z2")))))
    CHECK(sequence.targets.back() == std::to_string(std::ranges::count(sequence.tokens, "1") % 2));
}

TEST_CASE("the accuracy of guessing a word problem knows what can be at a place", "[tasks][group]") {
  const auto chance = [](const OptionValues& options) { return make_task(task_config("group", options))->chance(lm); };
  const auto all = chance(with(whole_numbers({{"length", 5}, {"min_length", 4}}), "S3"));
  CHECK(all.accuracy == Approx(1.0 / 6));
  CHECK(all.loss->value == Approx(std::log(6.0)));
  CHECK(all.sequence->value == Approx((std::pow(6.0, -4) + std::pow(6.0, -5)) / 2));
  // Swaps of S3: after an odd number, one of the three swaps; after an even one, nothing or one of two circles.
  const auto swaps = chance(with(whole_numbers({{"length", 5}}), "S3", "swaps"));
  CHECK(swaps.accuracy == Approx(1.0 / 3));
  CHECK(swaps.loss->value == Approx(std::log(3.0)));
  // Swaps of S4, after two: nothing moves with 1/6, each of 8 circles has 1/12, each of 3 double swaps 1/18. After
  // three: each of 6 swaps has 10/108, each of 6 circles of four 8/108.
  const auto four = chance(with(whole_numbers({{"length", 3}}), "S4", "swaps"));
  CHECK(four.accuracy == Approx((1.0 / 6 + 1.0 / 6 + 10.0 / 108) / 3));
  const double second = std::log(6.0) / 6 + 8 * std::log(12.0) / 12 + 3 * std::log(18.0) / 18,
               third = 60 * std::log(10.8) / 108 + 48 * std::log(13.5) / 108;
  CHECK(four.loss->value == Approx((std::log(6.0) + second + third) / 3));
}

TEST_CASE("a word problem says which groups there are", "[tasks][group]") {
  const auto message = [](const OptionValues& options) {
    return refusal([&] { make_task(task_config("group", options)); });
  };
  for (const char* wrong : {"", "S", "S2", "S6", "A3", "Z1", "Z1025", "Zx", "Q8", "S5xS4", "Z2x", "xZ2", "Z-2"})
    CHECK(message(with({}, wrong)) ==
          "[task.group] group = \"" + std::string(wrong) +
              "\" is no group that is known: take Zn with n from 2 to 1024, S3, S4, S5, A4, A5, or a product of these "
              "with at most 1024 elements, such as Z2xZ30");
  CHECK(message(with({}, "Z6", "swaps")) ==
        "[task.group] generators = \"swaps\" are permutations of S3, S4 and S5, and group is \"Z6\": choose such a "
        "group, or generators = \"all\"");
  CHECK_THAT(message(whole_numbers({{"min_length", 40}})), Contains("min_length = 40 is above length = 32"));
  CHECK_THAT(message(whole_numbers({{"test_length", 32}})), Contains("test_length = 32 is not above length = 32"));
}
