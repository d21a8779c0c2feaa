// The convolution of queries, keys and values (attention.convolution), besides its plain loops (parts_test.cpp): it
// starts as attention without it, sees no later token, begins anew with each segment, and decodes.
#include "tests/layers/attention_support.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr std::int64_t width = 8;

struct Made {
  Weights weights;
  LayerChoice choice;
  std::optional<MultiHeadAttention> attention;

  explicit Made(std::int64_t taps, const OptionValues& more = {}, const std::string& score = "scaled_dot") {
    choice.attention.score = score;
    choice.part_options = more;
    choice.part_options["convolution"] = taps;
    attention.emplace(weights.scope(), choice, MultiHeadAttention::Sizes{.width = width, .heads = 2}, Init::normal(1));
    weights.fill(3);
    for (const Parameters::Entry& e : weights.parameters.entries()) { // equal names, equal values
      std::uint64_t seed = 0;
      for (const char c : e.name) seed = 31 * seed + static_cast<std::uint64_t>(c);
      weights.set(e.name, draw(e.shape.size(), seed, {-1, 1, 0}));
    }
  }
  std::vector<Real> run(Operand& x, const Segments& segments = {}) {
    Tape tape;
    Pass pass = weights.pass(tape);
    return read((*attention)(pass, x.on(tape), {.causal = true, .query_segments = segments, .key_segments = segments}));
  }
};

std::vector<Real> part(const std::vector<Real>& of, std::int64_t begin, std::int64_t n) {
  return {of.begin() + begin * width, of.begin() + (begin + n) * width};
}

} // namespace

TEST_CASE("a convolution starts as attention without it", "[attention]") {
  for (const std::int64_t taps : {1, 4}) {
    Made with(taps), without(0);
    for (const char* name : {"convolution.query", "convolution.key", "convolution.value"}) {
      const Parameters::Entry* e = with.weights.parameters.find(name);
      REQUIRE(e);
      CHECK(e->shape == Shape{width, taps});
      CHECK(e->init.kind == Init::zeros().kind);
      CHECK(e->init.a == Init::zeros().a);
      with.weights.set(name, std::vector<Real>(static_cast<std::size_t>(width * taps)));
    }
    Operand x({2, 6, width}, 5, {-1, 1, 0});
    CHECK(with.run(x) == without.run(x));
  }
}

TEST_CASE("with a convolution, attention sees no later token and no other sequence", "[attention]") {
  Made made(3);
  Operand x({2, 9, width}, 5, {-1, 1, 0});
  const std::vector<Real> before = made.run(x);
  for (const std::int64_t token : {0, 4, 8}) {
    Operand changed = x;
    for (std::int64_t d = 0; d < width; ++d) changed.values[static_cast<std::size_t>(token * width + d)] += Real(0.5);
    const std::vector<Real> after = made.run(changed);
    CHECK(distance(part(after, 0, token), part(before, 0, token)) == 0);
    CHECK(distance(part(after, 9, 9), part(before, 9, 9)) == 0);
    for (std::int64_t t = token; t < 9; ++t) CHECK(part(after, t, 1) != part(before, t, 1));
  }
}

TEST_CASE("a convolution begins anew with each segment", "[attention]") {
  LayerChoice choice;
  choice.attention.mask_mod = "segment_i == segment_j";
  choice.part_options["convolution"] = std::int64_t{4};
  Weights weights;
  const MultiHeadAttention attention(weights.scope(), choice, {.width = width, .heads = 2, .longest = 11},
                                     Init::normal(1));
  weights.fill(3);
  Operand x({1, 11, width}, 5, {-1, 1, 0});
  const std::vector<std::int32_t> numbers{0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2};
  const auto run = [&](std::int64_t first, std::int64_t n) {
    Tape tape;
    Pass pass = weights.pass(tape);
    const Segments segments{numbers.data() + first, n};
    return read(attention(pass, slice(x.on(tape), 1, first, n),
                          {.causal = true, .query_segments = segments, .key_segments = segments}));
  };
  const std::vector<Real> whole = run(0, 11);
  for (const auto& [first, n] : {std::pair{0, 3}, std::pair{3, 1}, std::pair{4, 7}})
    CHECK(distance(part(whole, first, n), run(first, n)) < attention_tolerance);
}

TEST_CASE("decoding with a convolution, by tokens or in pieces, gives the whole sequence's results", "[attention]") {
  std::vector<std::int32_t> numbers;
  for (int b = 0; b < 2; ++b)
    for (std::int32_t t = 0; t < 14; ++t) numbers.push_back(t / (b == 0 ? 5 : 3));
  for (const std::string score : {"scaled_dot", "linear"})
    for (const std::string on : {"qkv", "qk", "k", "v"})
      for (const std::int64_t taps : {1, 2, 4, 20})
        for (const bool is_segmented : {false, true}) {
          Made made(taps, {{"convolution_on", on}, {"persistent_keys", std::int64_t{taps % 2}}}, score);
          Operand x({2, 14, width}, 5, {-1, 1, 0});
          const Segments segments{is_segmented ? numbers.data() : nullptr, 14};
          const std::vector<Real> whole = made.run(x, segments);
          for (const std::int64_t piece : {1, 2, 5}) {
            INFO(score << ", " << on << ", " << taps << " taps, segments " << is_segmented << ", pieces of " << piece);
            std::unique_ptr<MixerState> past;
            for (std::int64_t t = 0; t < 14; t += piece) {
              const std::int64_t n = std::min<std::int64_t>(piece, 14 - t);
              Tape tape;
              tape.record(false);
              Pass pass = made.weights.pass(tape);
              const Mask mask{.causal = true, .query_segments = segments, .key_segments = segments};
              const std::vector<Real> here = read(made.attention->step(pass, slice(x.on(tape), 1, t, n), mask, past));
              for (std::int64_t b = 0; b < 2; ++b)
                CHECK(distance(part(here, b * n, n), part(whole, b * 14 + t, n)) < attention_tolerance);
            }
          }
        }
}

TEST_CASE("attention foresees the numbers that it stores in decoding", "[attention][decoding]") {
  const auto numbers = [](Made& made, std::int64_t sequences, std::int64_t tokens, std::int64_t more) {
    Operand x({sequences, tokens, width}, 5, {-1, 1, 0});
    Tape tape;
    tape.record(false);
    Pass pass = made.weights.pass(tape);
    std::unique_ptr<MixerState> past;
    made.attention->step(pass, x.on(tape), {.causal = true}, past);
    return past->numbers(more);
  };
  struct Expected {
    std::int64_t taps;
    OptionValues parts;
    std::string score;
    std::int64_t once, each; // stored once, and for each token
  };
  const std::int64_t keys_and_values = 2 * width;
  for (const auto& [taps, parts, score, once, each] : std::vector<Expected>{
           {0, {}, "scaled_dot", 0, keys_and_values},
           {4, {}, "scaled_dot", 3 * 3 * width, keys_and_values},
           {4, {{"convolution_on", std::string("k")}}, "scaled_dot", 3 * width, keys_and_values},
           {0, {{"persistent_keys", std::int64_t{5}}}, "scaled_dot", 5 * keys_and_values, keys_and_values},
           {0, {{"forget_gate", true}}, "scaled_dot", 0, keys_and_values + 2},
           {0, {}, "linear", 2 * 4 * (4 + 1), 0}}) {
    Made made(taps, parts, score);
    if (score == "linear") {
      made.choice.attention.normalizer = "sum";
      made.attention.reset();
      made.weights = Weights();
      made.attention.emplace(made.weights.scope(), made.choice, MultiHeadAttention::Sizes{.width = width, .heads = 2},
                             Init::normal(1));
      made.weights.fill(3);
    }
    INFO(score << ", " << taps << " taps");
    CHECK(numbers(made, 1, 1, 0) == once + each);
    CHECK(numbers(made, 1, 1, 13) == once + 14 * each);
    CHECK(numbers(made, 3, 14, 0) == once + 14 * each);
    CHECK(numbers(made, 3, 5, 9) == once + 14 * each);
  }
}

TEST_CASE("sequences that are chosen in decoding keep the tokens that their convolution reads", "[attention]") {
  Made made(4);
  check_chosen_sequences(made, width);
}

TEST_CASE("a convolution is for causal self attention, and other attention refuses it or has none", "[attention]") {
  LayerChoice choice;
  choice.part_options["convolution"] = std::int64_t{4};
  const auto make = [&](const ValuesByName& others = {}, std::int64_t registers = 0) {
    return MultiHeadAttention::refusal_of(choice, {.width = 4, .heads = 2, .registers = registers}, others).why;
  };
  CHECK(make().empty());
  CHECK(make({}, 2).empty());
  CHECK_THAT(make({{"model.segment_end", std::string("|")}}, 2), Catch::Contains("set model.registers = 0"));
  choice.attention.prefix = 2;
  CHECK(make().empty());
  choice.attention.causal = false;
  CHECK_THAT(make(), Catch::Contains("attention.causal = true"));
  Weights cross;
  MultiHeadAttention(cross.scope(), choice, {.width = 4, .memory_width = 4, .heads = 2}, Init::zeros());
  for (const Parameters::Entry& entry : cross.parameters.entries())
    CHECK(entry.name.find("convolution") == std::string::npos);
  choice.attention.causal = true;
  choice.attention.projection = "latent";
  CHECK(make().empty());
  choice.projection_options["rotary_width"] = std::int64_t{2};
  CHECK_THAT(make(), Catch::Contains("set attention.latent.rotary_width = 0"));
}
