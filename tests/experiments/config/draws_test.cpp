// Tests of the values that a sweep of kind `random` draws.
#include "autograd/rng.hpp"
#include "experiments/config/sweep_blocks.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <set>

using namespace heed;

namespace {

Draw draw_of(const std::string& key, const std::string& distribution, const std::vector<Value>& values) {
  Draw draw{key, distribution, {}, {}};
  for (const Value& value : values) draw.values.push_back({key, value, {}});
  return draw;
}

std::vector<double> reals(const Draw& draw, int count, std::int64_t seed = 0) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(std::get<double>(drawn_value(draw, seed, i)));
  return out;
}

} // namespace

TEST_CASE("uniform draws fill their interval evenly", "[config][sweep]") {
  const std::vector<double> x = reals(draw_of("train.clip", "uniform", {0.5, 2.5}), 4000);
  double sum = 0;
  for (const double v : x) {
    CHECK(v >= 0.5);
    CHECK(v <= 2.5);
    sum += v;
  }
  CHECK(sum / 4000 == Approx(1.5).margin(4 * 2 / std::sqrt(12.0 * 4000))); // four standard errors
  const auto below = std::count_if(x.begin(), x.end(), [](double v) { return v < 1.0; });
  CHECK(below == Approx(1000).margin(4 * std::sqrt(750.0)));
}

TEST_CASE("log-uniform draws have as many in every decade", "[config][sweep]") {
  const std::vector<double> x = reals(draw_of("train.learning_rate", "log_uniform", {1e-4, 1e-2}), 4000);
  CHECK(*std::min_element(x.begin(), x.end()) >= 1e-4);
  CHECK(*std::max_element(x.begin(), x.end()) <= 1e-2);
  CHECK(std::count_if(x.begin(), x.end(), [](double v) { return v < 1e-3; }) ==
        Approx(2000).margin(4 * std::sqrt(1000.0)));
}

TEST_CASE("whole numbers come with both bounds, choices all", "[config][sweep]") {
  std::set<std::int64_t> whole;
  std::set<std::string> words;
  const Draw width = draw_of("model.layers", "int_uniform", {std::int64_t{-1}, std::int64_t{2}});
  const Draw score = draw_of("attention.score", "choice", {std::string("dot"), std::string("cosine")});
  for (int i = 0; i < 200; ++i) {
    whole.insert(std::get<std::int64_t>(drawn_value(width, 3, i)));
    words.insert(std::get<std::string>(drawn_value(score, 3, i)));
  }
  CHECK(whole == std::set<std::int64_t>{-1, 0, 1, 2});
  CHECK(words == std::set<std::string>{"cosine", "dot"});
}

TEST_CASE("a draw is a function of seed, option and number", "[config][sweep]") {
  const Draw rate = draw_of("train.learning_rate", "uniform", {0.0, 1.0}),
             clip = draw_of("train.clip", "uniform", {0.0, 1.0});
  CHECK(reals(rate, 5) == reals(rate, 5));
  CHECK(reals(rate, 5) != reals(rate, 5, 1));
  CHECK(reals(rate, 5) != reals(clip, 5));
}

TEST_CASE("real draws have four digits, and stay within bounds that have more", "[config][sweep]") {
  for (const double v : reals(draw_of("train.learning_rate", "log_uniform", {1.234567e-3, 1.234568e-3}), 20)) {
    CHECK(v >= 1.234567e-3);
    CHECK(v <= 1.234568e-3);
  }
  for (const double v : reals(draw_of("train.learning_rate", "uniform", {0.1, 0.9}), 50))
    CHECK(v * 1e4 == Approx(std::round(v * 1e4)).margin(1e-9));
}
