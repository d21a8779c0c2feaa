// Tests of rotary positions' options: xPos, and scaled angles, against the papers' formulas in plain loops.
#include "layers/position/position.hpp"
#include "tests/layers/attention_support.hpp"

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::HEED_REAL;
using Catch::Contains;

namespace {

using Long = long double;

// One kind of scaling by `s`, for sequences of `s` times `original` positions.
struct Scaled {
  std::string kind = "none";
  Long s = 1, original = 0;
};

// The angle of pair p at one position, for pairs of d features in all. `ntk` by a greater base: equations 14 to 16 of
// arXiv 2309.00071; `yarn` by wavelengths: equations 17 to 20.
Long angle(Long base, int p, int d, const Scaled& scaled) {
  const Long plain = std::pow(base, Long{-2} * static_cast<Long>(p) / static_cast<Long>(d));
  if (scaled.kind == "linear") return plain / scaled.s;
  if (scaled.kind == "ntk") {
    const Long greater = base * std::pow(scaled.s, static_cast<Long>(d) / static_cast<Long>(d - 2));
    return std::pow(greater, Long{-2} * static_cast<Long>(p) / static_cast<Long>(d));
  }
  if (scaled.kind != "yarn") return plain;
  const Long wavelength = 2 * std::numbers::pi_v<Long> / plain, r = scaled.original / wavelength;
  const Long gamma = r < 1 ? 0 : r > 32 ? 1 : (r - 1) / 31;
  return (1 - gamma) * plain / scaled.s + gamma * plain;
}

// The expected vector of one position: features p and p + d / 2 form a pair, and the features after the first d are not
// rotated.
std::vector<double> expected(const std::vector<Real>& x, int d, Long base, int position, const Scaled& scaled,
                             bool xpos, bool is_query) {
  const Long t = static_cast<Long>(position), temperature = scaled.kind == "yarn" ? std::log(scaled.s) / 10 + 1 : 1;
  std::vector<double> out;
  for (const Real value : x) out.push_back(static_cast<double>(temperature * static_cast<Long>(value)));
  for (int p = 0; p < d / 2; ++p) {
    const auto i = static_cast<std::size_t>(p), j = static_cast<std::size_t>(p + d / 2);
    const Long a = angle(base, p, d, scaled) * t,
               zeta = (static_cast<Long>(2 * p) + Long{0.4L} * static_cast<Long>(d)) /
                      (Long{1.4L} * static_cast<Long>(d));
    const Long size = temperature * (xpos ? std::pow(zeta, (is_query ? t : -t) / 512) : 1);
    const auto u = static_cast<Long>(x[i]), v = static_cast<Long>(x[j]);
    out[i] = static_cast<double>(size * (u * std::cos(a) - v * std::sin(a)));
    out[j] = static_cast<double>(size * (u * std::sin(a) + v * std::cos(a)));
  }
  return out;
}

struct Case {
  std::string text;
  OptionValues options;
  Scaled scaled;
  bool xpos = false;
  Long base = 10000;
  int rotated = 16;
};

Value word(const char* text) { return std::string(text); }

const std::vector<Case> cases = {
    {"xpos", {{"xpos", true}}, {}, true},
    {"xpos of a part", {{"xpos", true}, {"fraction", 0.5}}, {}, true, 10000, 8},
    {"linear", {{"scaling", word("linear")}, {"factor", 4.0}}, {"linear", 4}},
    {"ntk", {{"scaling", word("ntk")}, {"factor", 3.0}, {"base", 500.0}}, {"ntk", 3}, false, 500},
    {"ntk of a part", {{"scaling", word("ntk")}, {"fraction", 0.5}}, {"ntk", 2}, false, 10000, 8},
    {"yarn", {{"scaling", word("yarn")}, {"factor", 8.0}, {"original_length", std::int64_t{100}}}, {"yarn", 8, 100}},
    {"yarn of a part",
     {{"scaling", word("yarn")}, {"factor", 8.0}, {"original_length", std::int64_t{100}}, {"fraction", 0.5}},
     {"yarn", 8, 100},
     false,
     10000,
     8},
    {"yarn, original length by training's", {{"scaling", word("yarn")}, {"factor", 2.0}}, {"yarn", 2, 300}},
    {"xpos and yarn",
     {{"xpos", true}, {"scaling", word("yarn")}, {"original_length", std::int64_t{50}}},
     {"yarn", 2, 50},
     true}};

constexpr std::int64_t trained = 600;

std::unique_ptr<RelativePosition> rotary(Weights& none, const OptionValues& options, std::int64_t width = 16,
                                         bool of_outputs = false) {
  const Scope scope = of_outputs ? none.scope().reading_outputs() : none.scope();
  return position_info("rotary").make_relative(scope, {1, width, width, 1000, trained}, options);
}

// The vectors x [1, 1, n, 16] of the positions first, first + 1, ...
std::vector<Real> rotated(const RelativePosition& position, Operand& x, std::int64_t first, Rotated of,
                          const Pass::Options& pass_options = {}) {
  Weights none;
  none.fill(1);
  Tape tape;
  Pass pass = none.pass(tape, pass_options);
  return read(position.rotate(pass, x.on(tape), first, of));
}

} // namespace

TEST_CASE("xPos and scaled angles are those of the papers' formulas", "[position][rotary]") {
  for (const Case& c : cases) {
    INFO(c.text);
    Weights none;
    const auto position = rotary(none, c.options);
    Operand x({1, 1, 40, 16}, 5);
    for (const Rotated of : {Rotated::queries, Rotated::keys})
      for (const int first : {0, 3, 700}) {
        const std::vector<Real> found = rotated(*position, x, first, of);
        for (int t = 0; t < 40; ++t) {
          const auto at = static_cast<std::ptrdiff_t>(16 * t);
          const std::vector<Real> row(x.values.begin() + at, x.values.begin() + at + 16),
              y(found.begin() + at, found.begin() + at + 16);
          INFO("position " << first + t);
          CHECK(distance(y, expected(row, c.rotated, c.base, first + t, c.scaled, c.xpos, of == Rotated::queries)) <
                40 * rounding);
        }
      }
  }
}

TEST_CASE("the gradients of xPos and of scaled angles are those of finite differences", "[position][rotary]") {
  for (const Case& c : cases)
    for (const Rotated of : {Rotated::queries, Rotated::keys}) {
      INFO(c.text);
      Weights none;
      none.fill(1);
      const auto position = rotary(none, c.options);
      Operand x({1, 2, 3, 16}, 5);
      const auto loss = [&](Tape& tape) {
        Pass pass = none.pass(tape);
        return weighted_sum(position->rotate(pass, x.on(tape), 90, of));
      };
      Tape tape;
      tape.backward(loss(tape));
      const std::vector<Real> gradient = x.gradient;
      // The map is linear, so a difference over a whole unit has only rounding errors.
      for (std::size_t i = 0; i < x.values.size(); i += 5) {
        const auto at = [&](Real change) {
          const Real before = x.values[i];
          x.values[i] += change;
          Tape other;
          const double y = static_cast<double>(loss(other).item());
          x.values[i] = before;
          return y;
        };
        CHECK(std::abs((at(1) - at(-1)) / 2 - static_cast<double>(gradient[i])) < 1000 * rounding);
      }
    }
}

TEST_CASE("with xPos, products know distances only, and decay", "[position][rotary]") {
  Weights none;
  const auto position = rotary(none, {{"xpos", true}});
  Operand q({1, 1, 1, 16}, 1), k({1, 1, 1, 16}, 2);
  const auto product = [&](std::int64_t query, std::int64_t key) {
    const std::vector<Real> a = rotated(*position, q, query, Rotated::queries),
                            b = rotated(*position, k, key, Rotated::keys);
    double sum = 0;
    for (std::size_t i = 0; i < 16; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  for (const std::int64_t distance : {0, 1, 60})
    CHECK(std::abs(product(distance, 0) - product(2000 + distance, 2000)) < 3000 * rounding);
  // A vector's product with itself, without the rotation's part: each pair decays by its own zeta.
  k.values = q.values;
  CHECK(product(700, 0) < 0.9 * product(0, 0));
}

TEST_CASE("keys that decoding caches are those of the whole sequence", "[position][rotary]") {
  for (const Case& c : cases) {
    INFO(c.text);
    Weights none;
    const auto position = rotary(none, c.options);
    Operand all({1, 1, 5, 16}, 3);
    const std::vector<Real> whole = rotated(*position, all, 20, Rotated::keys);
    for (std::ptrdiff_t t = 0; t < 5; ++t) {
      Operand one({1, 1, 1, 16}, 3);
      one.values.assign(all.values.begin() + 16 * t, all.values.begin() + 16 * (t + 1));
      CHECK(rotated(*position, one, 20 + t, Rotated::keys) ==
            std::vector<Real>(whole.begin() + 16 * t, whole.begin() + 16 * (t + 1)));
    }
  }
}

TEST_CASE("an evaluation's scaling acts on sequences that are longer than training's", "[position][rotary]") {
  Operand x({1, 1, 7, 16}, 5);
  for (const char* const kind : {"linear", "ntk", "yarn"})
    for (const bool stated : {false, true}) {
      INFO(kind << ", stated " << stated);
      OptionValues options{{"evaluation_scaling", word(kind)}};
      if (stated) options["evaluation_factor"] = WordOrNumber{"", 5.0};
      Weights none;
      const auto position = rotary(none, options), outputs = rotary(none, options, 16, true), plain = rotary(none, {});
      const Pass::Options longer{.evaluated_length = 900}, as_long{.evaluated_length = trained},
          longer_outputs{.evaluated_length = 10, .evaluated_output_length = 900};
      const std::vector<Real> unscaled = rotated(*plain, x, 100, Rotated::keys, longer);
      CHECK(rotated(*position, x, 100, Rotated::keys) == unscaled);
      CHECK(rotated(*position, x, 100, Rotated::keys, as_long) == unscaled);
      CHECK(rotated(*position, x, 100, Rotated::keys, longer_outputs) == unscaled);
      // The same as training with this scaling.
      const auto scaled = rotary(none, {{"scaling", word(kind)},
                                        {"factor", stated ? 5.0 : 1.5},
                                        {"original_length", std::int64_t{trained}}});
      const std::vector<Real> by_training = rotated(*scaled, x, 100, Rotated::keys);
      CHECK(by_training != unscaled);
      CHECK(distance(rotated(*position, x, 100, Rotated::keys, longer), by_training) < 40 * rounding);
      CHECK(distance(rotated(*outputs, x, 100, Rotated::keys, longer_outputs), by_training) < 40 * rounding);
    }
  // It scales the angles that training had.
  Weights none;
  const auto twice = rotary(none, {{"scaling", word("linear")}, {"evaluation_scaling", word("linear")}}),
             once = rotary(none, {{"scaling", word("linear")}, {"factor", 3.0}});
  CHECK(distance(rotated(*twice, x, 100, Rotated::queries, {.evaluated_length = 900}),
                 rotated(*once, x, 100, Rotated::queries)) < 40 * rounding);
}

TEST_CASE("rotary's options are refused where they make no sense", "[position][rotary]") {
  Weights none;
  const auto why = [](const OptionValues& options, const AttentionOptions& attention, std::int64_t width = 16) {
    LayerChoice choice;
    choice.attention = attention;
    choice.position.kind = "rotary";
    choice.position_options = options;
    return MultiHeadAttention::refusal_of(choice, {.width = width}).why;
  };
  const OptionValues xpos{{"xpos", true}};
  CHECK(why(xpos, {}).empty());
  CHECK(why(xpos, {.prefix = 1}).empty());
  CHECK_THAT(why(xpos, {.causal = false}), Contains("grow exponentially") && Contains("attention.causal = true"));
  CHECK_THAT(why(xpos, {.prefix = 2}), Contains("attention.prefix = 1 or 0"));
  CHECK(why({{"scaling", word("ntk")}}, {}, 4).empty());
  CHECK_THAT(why({{"scaling", word("ntk")}}, {}, 3), Contains("only one pair"));
  CHECK_THAT(why({{"evaluation_scaling", word("ntk")}, {"fraction", 0.2}}, {}), Contains("only one pair"));
  Operand x({1, 1, 2, 16}, 1);
  CHECK_NOTHROW(rotated(*rotary(none, xpos), x, 24998, Rotated::keys));
  CHECK_THROWS_WITH(rotated(*rotary(none, xpos), x, 24999, Rotated::keys), Contains("25000") && Contains("25001"));
}
