// What a plan says of its seeds.
#include "experiments/report/seed_advice.hpp"

#include "autograd/error.hpp"
#include "tests/catch.hpp"

#include <string>

using namespace heed;

namespace {

Plan plan(std::size_t arms, std::int64_t seeds) {
  Plan out;
  out.arms.resize(arms);
  for (std::int64_t seed = 0; seed < seeds; ++seed) out.seeds.push_back(seed);
  return out;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a plan says when it has too few seeds for any answer", "[report]") {
  CHECK(contains(seed_advice(plan(4, 5)), "underpowered: n = 5 can't go below p = 0.0625; 6 seeds can"));
  const std::string enough = seed_advice(plan(4, 8));
  CHECK_FALSE(contains(enough, "underpowered"));
  CHECK(contains(enough, "n = 8 can go down to p = 0.0078"));
}

TEST_CASE("a plan says how many seeds effects take", "[report]") {
  // See power_test.cpp for the numbers: 34, 10, 7 and 6 for one arm.
  const std::string one = seed_advice(plan(2, 8));
  CHECK(contains(one, "  effect d_z  seeds\n         0.5     34\n           1     10\n"
                      "         1.5      7\n           2      6\n"));
  CHECK_FALSE(contains(one, "arms, each"));
  const std::string ten = seed_advice(plan(11, 8), 0.2);
  CHECK(contains(ten, "  effect d_z  seeds  of 10 arms, each\n         0.2    199               337\n"));
  CHECK_FALSE(contains(ten, "1.5"));
}

TEST_CASE("where nothing is compared there is nothing to say", "[report]") { CHECK(seed_advice(plan(1, 3)).empty()); }

TEST_CASE("an effect of nothing takes no number of seeds", "[report]") {
  CHECK_THROWS_AS(seed_advice(plan(2, 8), 0.0), Failed);
}
