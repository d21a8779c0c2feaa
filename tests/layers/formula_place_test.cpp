// Formulas of cross attention, and formulas with names that need numbers of the layer or of its caller.
#include "tests/layers/formula_support.hpp"

using namespace heed;
using namespace heed::HEED_REAL;
using Catch::Contains;

namespace {

constexpr double place_tolerance = 10 * attention_tolerance;

} // namespace

TEST_CASE("a mask formula of cross attention hides the pairs of an explicit mask", "[attention][formula]") {
  const std::int64_t queries = 6, keys = 9;
  LayerChoice with, without;
  with.attention.cross_mask_mod = "j <= i + 1 or segment_j == segment_i + 2";
  with.attention.mask_mod = "i == j"; // of self attention: it has no effect here
  const auto make = [](Weights& weights, const LayerChoice& choice) {
    auto out = std::make_unique<MultiHeadAttention>(
        weights.scope(), choice.for_cross_attention(),
        MultiHeadAttention::Sizes{.width = 4, .memory_width = 4, .heads = 2, .longest = 9, .longest_queries = 6},
        InitRule{});
    weights.fill(3);
    return out;
  };
  Weights a, b;
  const auto formula = make(a, with), plain = make(b, without);
  std::vector<std::int32_t> of_queries, of_keys;
  std::vector<std::uint8_t> allowed;
  for (std::int64_t n = 0; n < 2; ++n) {
    for (std::int64_t i = 0; i < queries; ++i) of_queries.push_back(static_cast<std::int32_t>((i + n) / 3));
    for (std::int64_t j = 0; j < keys; ++j) of_keys.push_back(static_cast<std::int32_t>(j / (2 + n)));
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j) allowed.push_back(j <= i + 1 || j / (2 + n) == (i + n) / 3 + 2 ? 1 : 0);
  }
  const std::vector<std::int32_t> lengths = {9, 5};
  Operand x({2, queries, 4}, 5, {-1, 1, 0}), memory({2, keys, 4}, 6, {-1, 1, 0});
  Tape tape;
  Pass by_formula = a.pass(tape), by_mask = b.pass(tape);
  const Tensor y = (*formula)(by_formula, x.on(tape), memory.on(tape),
                              {.lengths = lengths.data(),
                               .query_segments = {of_queries.data(), queries},
                               .key_segments = {of_keys.data(), keys}});
  const Tensor z = (*plain)(by_mask, x.on(tape), memory.on(tape),
                            {.lengths = lengths.data(), .allowed = allowed.data(), .allowed_shared = false});
  CHECK(distance(read(y), read(z)) < place_tolerance);
  CHECK(distance(read(y), read((*plain)(by_mask, x.on(tape), memory.on(tape), {.lengths = lengths.data()}))) > 1e-3);
}

TEST_CASE("an attention makes only the parameters that its own formulas name", "[attention][formula]") {
  LayerChoice choice;
  choice.attention.score_mod = "s * self";
  choice.attention.cross_score_mod = "s + cross[i] - common";
  for (const FormulaParameter& p : {FormulaParameter{.name = "self"}, FormulaParameter{.name = "common"},
                                    FormulaParameter{.name = "cross", .per = "position"}})
    choice.attention.parameters.push_back(text_of(p));
  const auto names = [](const LayerChoice& of, const ScoreSizes& sizes) {
    Weights weights;
    Attention(weights.scope(), of, sizes);
    std::vector<std::string> out;
    for (const auto& entry : weights.parameters.entries())
      if (entry.name.starts_with("formula.")) out.push_back(fmt::format("{} {}", entry.name, entry.shape.size()));
    return out;
  };
  const ScoreSizes sizes{.heads = 1, .query_width = 2, .key_width = 2, .longest = 5, .longest_queries = 7};
  CHECK(names(choice, sizes) == std::vector<std::string>{"formula.self 1"});
  CHECK(names(choice.for_cross_attention(), sizes) ==
        std::vector<std::string>{"formula.common 1", "formula.cross 7"}); // as many as the longest of both
}

TEST_CASE("a formula is refused where a layer has no segments and no patches", "[attention][formula]") {
  Weights weights;
  LayerChoice choice;
  choice.attention.score_mod = "s + row_i";
  const ScoreSizes sizes{.heads = 1, .query_width = 2, .key_width = 2};
  CHECK_THROWS_WITH(Attention(weights.scope(), choice, sizes), Contains("this model has no patches"));
  choice.attention.score_mod = "s + segment_i";
  const Attention attention(weights.scope(), choice, sizes);
  weights.fill(3);
  Operand x({1, 3, 2}, 5, {-1, 1, 0});
  Tape tape;
  Pass pass = weights.pass(tape);
  CHECK_THROWS_WITH(attention(pass, {.queries = x.on(tape), .values = x.on(tape)}), Contains("the segments of tokens"));
  choice.attention.cross_mask_mod = "j <= i";
  CHECK_THROWS_WITH(MultiHeadAttention(weights.scope(), choice.for_cross_attention(),
                                       {.width = 4, .memory_width = 4, .heads = 1, .registers = 2}, InitRule{}),
                    Contains("cross_mask_mod uses the positions of queries, and registers have none"));
}

TEST_CASE("what a mask formula hides from a head or from an entry is skipped there", "[attention][formula]") {
  // Two heads, two entries: head 0 has a window of 64, and the entries have segments of 100 and of 400 tokens.
  const std::int64_t length = 512, far = 384; // a strip of queries at `far`, and the first tile of keys
  std::vector<std::int32_t> segments;
  for (const std::int64_t each : {100, 400})
    for (std::int64_t t = 0; t < length; ++t) segments.push_back(static_cast<std::int32_t>(t / each));
  const Mask mask{
      .causal = true, .query_segments = {segments.data(), length}, .key_segments = {segments.data(), length}};
  const auto skips = [&](const char* text, std::int64_t b, std::int64_t h) {
    const ReadFormula read = read_formula(text, FormulaKind::mask, {});
    REQUIRE(read.formula);
    const FormulaProgram program = program_of(nullptr, &*read.formula, {});
    Tape tape;
    ScoreFormula* formula = keep_formula(
        tape, program, {}, {.batch = 2, .heads = 2, .queries = length, .keys = length, .width = 4, .mask = mask});
    Tape::Scratch scratch(tape);
    formula->begin(tape, scratch, false);
    for (std::int64_t at = 0; at <= 2 * b + h; ++at) formula->begin_head(at / 2, at % 2);
    const ScoreFormula::View v = formula->view(far, 0);
    return v.c0 == v.c1;
  };
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 2; ++h) {
      INFO("entry " << b << ", head " << h);
      CHECK(skips("i - j < 64 or h == 1", b, h) == (h == 0));
      CHECK(skips("floor(i / 64) == floor(j / 64) or h == 1", b, h) == (h == 0));
      CHECK(skips("segment_i == segment_j", b, h) == (b == 0));
      CHECK(skips("segment_i == segment_j or h == 1", b, h) == (b == 0 && h == 0));
      CHECK_FALSE(skips("i - j < 512", b, h));
    }
}
