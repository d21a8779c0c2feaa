// Tests of Parameters: their layout, and initial values that depend only on the seed, the name and the position.
#include "autograd/error.hpp"
#include "autograd/parameters.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

std::vector<Real> values(Parameters& p, ParameterId id) { return {p.values(id), p.values(id) + p[id].shape.size()}; }

struct Moments {
  double mean = 0, deviation = 0, smallest = 0, largest = 0;
};
Moments moments(const std::vector<Real>& x) {
  Moments m;
  const auto n = static_cast<double>(x.size());
  for (Real v : x) m.mean += static_cast<double>(v) / n;
  for (Real v : x) m.deviation += (static_cast<double>(v) - m.mean) * (static_cast<double>(v) - m.mean) / n;
  m.deviation = std::sqrt(m.deviation);
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  m.smallest = static_cast<double>(*low);
  m.largest = static_cast<double>(*high);
  return m;
}

} // namespace

TEST_CASE("every parameter starts on a cache line, padding is zero, and counts leave it out", "[parameters]") {
  Parameters p;
  const auto a = p.add("a", {3, 5}, Init::normal(1)), b = p.add("b", {}, Init::constant(2));
  const auto c = p.add("c", {16}, Init::zeros());
  p.initialise(1);
  for (ParameterId id : {a, b, c}) CHECK(reinterpret_cast<std::uintptr_t>(p.values(id)) % 64 == 0);
  CHECK(p.count() == 15 + 1 + 16);
  CHECK(p.extent() % static_cast<std::int64_t>(64 / sizeof(Real)) == 0);
  CHECK(p.entries().size() == 3);
  CHECK(std::all_of(p.values(a) + 15, p.values(b), [](Real v) { return v == 0; }));
  CHECK(values(p, b) == std::vector<Real>{2});
  CHECK(values(p, c) == std::vector<Real>(16, 0));
}

TEST_CASE("parameters are found by name, and a name is taken once", "[parameters]") {
  Parameters p;
  p.add("query.weight", {2, 3}, Init::zeros());
  p.add("query.bias", {2}, Init::zeros());
  REQUIRE(p.find("query.bias"));
  CHECK(p.find("query.bias")->shape == Shape{2});
  CHECK(p.find("key.bias") == nullptr);
  CHECK_THROWS_AS(p.add("query.bias", {4}, Init::zeros()), Failed);
  CHECK_THROWS_WITH(p.add("query.bias", {4}, Init::zeros()),
                    "[parameters] there is already a parameter named \"query.bias\"");
}

TEST_CASE("weight decay acts on what says so, whatever its shape", "[parameters]") {
  Parameters p;
  CHECK(p[p.add("matrix", {2, 3}, Init::zeros(), WeightDecay::yes)].decay == WeightDecay::yes);
  CHECK(p[p.add("vector", {3}, Init::zeros(), WeightDecay::yes)].decay == WeightDecay::yes);
  CHECK(p[p.add("a scale for each head", {2, 1, 1}, Init::zeros(), WeightDecay::no)].decay == WeightDecay::no);
  CHECK(p[p.add("a bias", {3}, Init::zeros())].decay == WeightDecay::no);
}

TEST_CASE("two models that share a name and a shape start alike there", "[parameters]") {
  Parameters small, large;
  const auto a = small.add("blocks.0.query.weight", {7, 5}, Init::normal(0.02));
  large.add("embedding", {100, 5}, Init::normal(0.02));
  const auto b = large.add("blocks.0.query.weight", {7, 5}, Init::normal(0.02));
  const auto c = large.add("blocks.1.query.weight", {7, 5}, Init::normal(0.02));
  const auto d = large.add("longer", {9, 5}, Init::normal(0.02)), e = small.add("longer", {7, 5}, Init::normal(0.02));
  small.initialise(4);
  large.initialise(4);
  CHECK(values(small, a) == values(large, b));
  CHECK(values(large, b) != values(large, c));
  // A parameter with more rows starts with the values of the parameter with the same name and fewer rows.
  const auto nine = values(large, d), seven = values(small, e);
  CHECK(std::equal(seven.begin(), seven.end(), nine.begin()));

  const auto before = values(small, a);
  small.initialise(5);
  CHECK(values(small, a) != before);
  small.initialise(4);
  CHECK(values(small, a) == before);
}

TEST_CASE("first values have the stated distribution", "[parameters]") {
  Parameters p;
  const auto normal = p.add("normal", {100, 1000}, Init::normal(0.02));
  const auto uniform = p.add("uniform", {100, 1000}, Init::uniform(0.5));
  const auto other = p.add("other", {100, 1000}, Init::normal(0.02));
  p.initialise(1);
  // Five standard errors. For 10^5 values, one standard error is 0.003 standard deviations for the mean, and 0.0022 for
  // the standard deviation.
  const Moments n = moments(values(p, normal));
  CHECK(std::abs(n.mean) < 0.016 * 0.02);
  CHECK(std::abs(n.deviation - 0.02) < 0.011 * 0.02);
  CHECK(n.largest > 3.5 * 0.02);
  CHECK(n.largest < 6 * 0.02);
  const Moments u = moments(values(p, uniform));
  CHECK(std::abs(u.mean) < 0.016 * 0.289);
  CHECK(std::abs(u.deviation - 0.5 / std::sqrt(3)) < 0.011 * 0.289);
  CHECK(u.smallest >= -0.5);
  CHECK(u.smallest < -0.4999);
  CHECK(u.largest < 0.5);
  CHECK(u.largest > 0.4999);
  const auto a = values(p, normal), b = values(p, other);
  double together = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    together += static_cast<double>(a[i]) * static_cast<double>(b[i]) / (0.02 * 0.02) / 1e5;
  CHECK(std::abs(together) < 0.016);
}
