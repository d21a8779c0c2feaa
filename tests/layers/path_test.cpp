// The positional scheme path (PaTH attention), besides its plain loops (parts_test.cpp): it equals no positions without
// strengths, sees no later token, decodes, begins anew with each segment, and runs in blocks of queries.
#include "layers/position/position.hpp"
#include "tests/layers/attention_support.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t path_width = 8;

struct PathCase {
  Weights weights;
  LayerChoice choice;
  std::optional<MultiHeadAttention> attention;

  explicit PathCase(const std::string& kind, const OptionValues& options = {}, const OptionValues& parts = {},
                    const AttentionOptions& more = {}) {
    choice.attention = more;
    choice.position.kind = kind;
    choice.position_options = options;
    choice.part_options = parts;
    attention.emplace(weights.scope(), choice,
                      MultiHeadAttention::Sizes{.width = path_width, .heads = 2, .longest = 500}, Init::normal(1));
    weights.fill(3);
    for (const Parameters::Entry& e : weights.parameters.entries()) { // equal names, equal values
      std::uint64_t seed = 0;
      for (const char c : e.name) seed = 31 * seed + static_cast<std::uint64_t>(c);
      weights.set(e.name, draw(e.shape.size(), seed, {-1, 1, 0}));
    }
  }
  std::vector<Real> run(Operand& x, const Mask& mask = {.causal = true}) {
    Tape tape;
    Pass pass = weights.pass(tape);
    return read((*attention)(pass, x.on(tape), mask));
  }
};

std::vector<Real> tokens_of(const std::vector<Real>& of, std::int64_t begin, std::int64_t n) {
  return {of.begin() + begin * path_width, of.begin() + (begin + n) * path_width};
}

} // namespace

TEST_CASE("path has the parameters of its paper, and starts with strengths near 1", "[position]") {
  PathCase made("path");
  const auto shape = [&](const char* name) {
    const Parameters::Entry* e = made.weights.parameters.find(name);
    REQUIRE(e);
    return e->shape;
  };
  CHECK(shape("position.direction_low_rank.weight") == Shape{32, path_width});
  CHECK(shape("position.direction.weight") == Shape{path_width, 32});
  CHECK(shape("position.convolution.weight") == Shape{path_width, 3});
  CHECK(shape("position.strength.weight") == Shape{2, path_width});
  CHECK(shape("position.strength.bias") == Shape{2});
  CHECK(made.weights.parameters.find("position.strength.bias")->init.a == 0);
  AttentionOptions one_key;
  one_key.key_value_heads = 1;
  PathCase whole("path", {{"rank", std::int64_t{0}}, {"convolution", std::int64_t{0}}}, {}, one_key);
  CHECK(whole.weights.parameters.find("position.direction.weight")->shape == Shape{path_width / 2, path_width});
  CHECK(whole.weights.parameters.find("position.strength.bias")->shape == Shape{1});
  for (const char* none : {"position.direction_low_rank.weight", "position.convolution.weight"})
    CHECK_FALSE(whole.weights.parameters.find(none));
}

TEST_CASE("path without strengths equals attention without positions", "[position][equals]") {
  for (const OptionValues& parts : {OptionValues{}, OptionValues{{"forget_gate", true}}}) {
    PathCase path("path", {}, parts), none("none", {}, parts);
    path.weights.set("position.strength.weight", std::vector<Real>(2 * path_width));
    path.weights.set("position.strength.bias", {-1e4, -1e4});
    Operand x({2, 40, path_width}, 5, {-1, 1, 0});
    CHECK(distance(path.run(x), none.run(x)) < attention_tolerance);
  }
}

TEST_CASE("with path, attention sees no later token and no other sequence", "[position]") {
  PathCase made("path");
  Operand x({2, 40, path_width}, 5, {-1, 1, 0});
  const std::vector<Real> before = made.run(x);
  for (const std::int64_t token : {0, 17, 39}) {
    Operand changed = x;
    for (std::int64_t d = 0; d < path_width; ++d)
      changed.values[static_cast<std::size_t>(token * path_width + d)] += Real(0.5);
    const std::vector<Real> after = made.run(changed);
    CHECK(tokens_of(after, 0, token) == tokens_of(before, 0, token));
    CHECK(tokens_of(after, 40, 40) == tokens_of(before, 40, 40));
    for (std::int64_t t = token; t < 40; ++t) CHECK(tokens_of(after, t, 1) != tokens_of(before, t, 1));
  }
}

TEST_CASE("path ignores padding", "[position]") {
  PathCase made("path");
  Operand x({2, 40, path_width}, 5, {-1, 1, 0});
  const std::int32_t lengths[] = {40, 21};
  const Mask padded{.causal = true, .lengths = lengths};
  const std::vector<Real> before = made.run(x, padded);
  CHECK(tokens_of(before, 0, 40) == tokens_of(made.run(x), 0, 40));
  Operand changed = x;
  for (std::int64_t d = 0; d < 19 * path_width; ++d)
    changed.values[static_cast<std::size_t>((40 + 21) * path_width + d)] = 7;
  CHECK(tokens_of(made.run(changed, padded), 0, 61) == tokens_of(before, 0, 61));
}

TEST_CASE("path in blocks of queries gives what it gives at once, and so do their gradients", "[position]") {
  constexpr std::int64_t length = 400; // beyond 2^18 scores, there are blocks
  for (const OptionValues& parts : {OptionValues{}, OptionValues{{"forget_gate", true}}}) {
    PathCase made("path", {}, parts);
    Operand x({2, length, path_width}, 5, {-1, 1, 0}), start({2, 90, path_width}, draw(2 * 90 * path_width, 6));
    for (std::int64_t b = 0; b < 2; ++b)
      std::copy_n(x.values.begin() + b * length * path_width, 90 * path_width,
                  start.values.begin() + b * 90 * path_width);
    const auto gradients = [&](Operand& of, std::int64_t n) { // of the first 90 results
      Tape tape;
      Pass pass = made.weights.pass(tape, {.training = true});
      const Tensor y = slice((*made.attention)(pass, of.on(tape), {.causal = true}), 1, 0, 90);
      tape.backward(weighted_sum(y));
      pass.finish_gradients();
      std::vector<Real> out = read(y);
      for (std::int64_t b = 0; b < 2; ++b) {
        const auto at = of.gradient.begin() + b * n * path_width;
        out.insert(out.end(), at, at + 90 * path_width);
      }
      out.insert(out.end(), made.weights.gradients.begin(), made.weights.gradients.end());
      return out;
    };
    CHECK(distance(gradients(x, length), gradients(start, 90)) < 30 * attention_tolerance);
  }
}

TEST_CASE(
    "a window, a dilation and a mask of segments hide pairs from path, and its matrices are of all tokens between",
    "[position]") {
  Operand x({1, 12, path_width}, 5, {-1, 1, 0});
  AttentionOptions formula;
  formula.mask_mod = "(i - j) % 2 == 0 and i - j < 6";
  PathCase whole("path"), by_formula("path", {}, {}, formula);
  const std::vector<Real> expected = by_formula.run(x);
  CHECK(distance(whole.run(x, {.causal = true, .window = 5, .dilation = 2}), expected) < attention_tolerance);
  CHECK(whole.run(x) != expected);
}

TEST_CASE("segments have what path gives them alone", "[position]") {
  AttentionOptions options;
  options.mask_mod = "segment_i == segment_j";
  PathCase made("path", {}, {}, options);
  Operand x({1, 11, path_width}, 5, {-1, 1, 0});
  const std::vector<std::int32_t> numbers{0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2};
  const auto run = [&](std::int64_t first, std::int64_t n) {
    Tape tape;
    Pass pass = made.weights.pass(tape);
    const Segments segments{numbers.data() + first, n};
    return read((*made.attention)(pass, slice(x.on(tape), 1, first, n),
                                  {.causal = true, .query_segments = segments, .key_segments = segments}));
  };
  const std::vector<Real> whole = run(0, 11);
  for (const auto& [first, n] : {std::pair{0, 3}, std::pair{3, 1}, std::pair{4, 7}})
    CHECK(distance(tokens_of(whole, first, n), run(first, n)) < attention_tolerance);
}

TEST_CASE("decoding with path, by tokens or in pieces, gives the whole sequence's results", "[position]") {
  std::vector<std::int32_t> numbers;
  for (int b = 0; b < 2; ++b)
    for (std::int32_t t = 0; t < 44; ++t) numbers.push_back(t / (b == 0 ? 5 : 13));
  AttentionOptions one_key;
  one_key.key_value_heads = 1;
  for (const std::int64_t taps : {0, 1, 3})
    for (const OptionValues& parts : {OptionValues{}, OptionValues{{"forget_gate", true}, {"convolution", 2}},
                                      OptionValues{{"differential", "v1"}}})
      for (const AttentionOptions& options : {AttentionOptions{}, one_key})
        for (const bool is_segmented : {false, true}) {
          PathCase made("path", {{"convolution", taps}}, parts, options);
          Operand x({2, 44, path_width}, 5, {-1, 1, 0});
          const Segments segments{is_segmented ? numbers.data() : nullptr, 44};
          const Mask mask{.causal = true, .query_segments = segments, .key_segments = segments};
          const std::vector<Real> whole = made.run(x, mask);
          for (const std::int64_t piece : {1, 3, 40}) {
            INFO(taps << " taps, " << parts.size() << " parts, segments " << is_segmented << ", pieces of " << piece);
            std::unique_ptr<MixerState> past;
            for (std::int64_t t = 0; t < 44; t += piece) {
              const std::int64_t n = std::min<std::int64_t>(piece, 44 - t);
              Tape tape;
              tape.record(false);
              Pass pass = made.weights.pass(tape);
              const std::vector<Real> here = read(made.attention->step(pass, slice(x.on(tape), 1, t, n), mask, past));
              for (std::int64_t b = 0; b < 2; ++b)
                CHECK(distance(tokens_of(here, b * n, n), tokens_of(whole, b * 44 + t, n)) < attention_tolerance);
            }
          }
        }
}

TEST_CASE("sequences that are chosen in decoding take their keys and directions with them", "[position]") {
  PathCase made("path");
  check_chosen_sequences(made, path_width);
}

TEST_CASE("path does not grow in long sequences", "[position]") {
  PathCase made("path");
  made.weights.set("position.strength.bias", {1e4, 1e4}); // reflections
  Operand x({1, 2000, path_width}, 5, {-1, 1, 0});
  for (const Real y : made.run(x)) {
    CHECK(std::isfinite(y));
    if (!std::isfinite(y)) break;
  }
}

TEST_CASE("path refuses what it is not defined for", "[position]") {
  LayerChoice choice;
  choice.position.kind = "path";
  const auto why = [](const LayerChoice& of, const ValuesByName& others = {}, std::int64_t registers = 0) {
    return MultiHeadAttention::refusal_of(of, {.width = 4, .heads = 2, .registers = registers}, others).why;
  };
  CHECK(why(choice).empty());
  CHECK_THAT(why(choice, {}, 2), Catch::Contains("set model.registers = 0"));
  const auto with = [&](const auto& change) {
    LayerChoice changed = choice;
    change(changed);
    return why(changed);
  };
  CHECK(with([](LayerChoice& c) { c.attention.score = "dot"; }).empty());
  CHECK(with([](LayerChoice& c) { c.attention.prefix = 1; }).empty());
  CHECK_THAT(with([](LayerChoice& c) { c.attention.prefix = 2; }), Catch::Contains("a prefix of at most 1"));
  CHECK_THAT(with([](LayerChoice& c) { c.attention.causal = false; }), Catch::Contains("attention.causal = true"));
  for (const std::string score : {"cosine", "linear", "multiplicative", "additive"})
    CHECK_THAT(with([&](LayerChoice& c) { c.attention.score = score; }), Catch::Contains("\"scaled_dot\""));
  CHECK_THAT(with([](LayerChoice& c) { c.part_options["selection"] = std::string("moba"); }),
             Catch::Contains("set attention.selection = \"none\""));
  CHECK_THAT(with([](LayerChoice& c) { c.part_options["persistent_keys"] = std::int64_t{2}; }),
             Catch::Contains("set attention.persistent_keys = 0"));
  Weights cross;
  MultiHeadAttention(cross.scope(), choice, {.width = 4, .memory_width = 4, .heads = 2}, Init::zeros());
  for (const Parameters::Entry& entry : cross.parameters.entries())
    CHECK(entry.name.find("position") == std::string::npos);
}
