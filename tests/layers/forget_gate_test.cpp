// Forget gates: attention with them equals plain loops, also in sequences so long that the sums of the gates are large.
#include "layers/position/position.hpp"
#include "tests/fixtures/fixture.hpp"
#include "tests/layers/attention_support.hpp"

#include <catch2/catch.hpp>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// The result in plain loops: s_ij + the sum of steps [B, H, Tk] from j + 1 to i + offset, over the keys of the mask.
std::vector<Real> in_plain_loops(AttentionCase& c, const Mask& mask, const std::vector<Real>& steps) {
  return c
      .naive(mask,
             [&](const Pair& p) {
               double bias = 0;
               for (std::int64_t l = p.j + 1; l <= p.i + mask.offset; ++l)
                 bias += static_cast<double>(
                     steps[static_cast<std::size_t>((p.b * c.extents.heads + p.h) * c.extents.keys + l)]);
               return bias;
             })
      .result;
}

std::vector<MaskCase> causal_masks(const Extents& e) {
  std::vector<MaskCase> out;
  for (const MaskCase& m : masks(e))
    if (m.mask.causal && m.mask.prefix <= 1 && e.queries + m.mask.offset <= e.keys) out.push_back(m);
  return out;
}

} // namespace

TEST_CASE("attention with forget gates is what plain loops compute, streaming, with all weights, and in blocks",
          "[attention]") {
  for (const std::string score : {"scaled_dot", "additive", "l1", "linear"})
    for (const std::string normalizer : {"softmax", "softpick", "sigmoid", "sum"}) {
      if (normalizer == "sum" && score != "linear") continue; // needs positive scores
      for (const std::int64_t queries : {5, 3}) {
        const Extents e{.batch = 2, .heads = 3, .queries = queries, .keys = 5};
        for (const MaskCase& mask : causal_masks(e))
          for (const std::int64_t rows : {0, 2}) {
            INFO(score << ", " << normalizer << ", " << queries << " queries, " << mask.name << ", " << rows);
            AttentionCase c(choice_of(score_info(score), {}, normalizer), e);
            Operand steps({e.batch, e.heads, e.keys, 1}, 5, {-2, 0, 0});
            Tape tape;
            Pass pass = c.weights.pass(tape);
            AttentionInputs inputs{.queries = c.q.on(tape),
                                   .values = c.v.on(tape),
                                   .keys = c.k.on(tape),
                                   .mask = mask(),
                                   .forget = steps.on(tape),
                                   .rows = rows};
            const std::vector<Real> expected = in_plain_loops(c, mask(), steps.values);
            CHECK(distance(read(c.attention(pass, inputs)), expected) < attention_tolerance);
            Tensor w;
            CHECK(distance(read(c.attention(pass, inputs, &w)), expected) < attention_tolerance);
          }
      }
    }
}

TEST_CASE("forget gates lose no digits in long sequences, whose sums are large", "[attention]") {
  const Extents e{.batch = 1, .heads = 1, .queries = 3000, .keys = 3000, .value_width = 1};
  AttentionCase c(choice_of(score_info("scaled_dot")), e);
  Operand steps({1, 1, e.keys, 1}, 5, {-1.5, -0.5, 0}); // their sum is about -3000
  Tape tape;
  Pass pass = c.weights.pass(tape);
  const Tensor y = c.attention(pass, {.queries = c.q.on(tape),
                                      .values = c.v.on(tape),
                                      .keys = c.k.on(tape),
                                      .mask = {.causal = true},
                                      .forget = steps.on(tape)});
  const Mask near{.causal = true, .window = 60}; // farther keys have a weight of at most e^-30
  const std::vector<Real> expected = in_plain_loops(c, near, steps.values);
  CHECK(distance(read(y), expected) < attention_tolerance);
}

TEST_CASE("a forget gate is for causal self attention, and other attention refuses it", "[attention]") {
  LayerChoice choice;
  choice.part_options["forget_gate"] = true;
  const auto make = [&] {
    Weights weights;
    MultiHeadAttention(weights.scope(), choice, {.width = 4, .heads = 2}, Init::zeros());
  };
  CHECK_NOTHROW(make());
  choice.attention.prefix = 2;
  CHECK_THROWS_WITH(make(), Catch::Contains("forget_gate") && Catch::Contains("a prefix of at most 1"));
  choice.attention.prefix = 0;
  choice.attention.causal = false;
  CHECK_THROWS_WITH(make(), Catch::Contains("attention.causal = true"));
  Weights cross;
  MultiHeadAttention(cross.scope(), choice, {.width = 4, .memory_width = 4, .heads = 2}, Init::zeros());
  for (const Parameters::Entry& entry : cross.parameters.entries())
    CHECK(entry.name.find("forget_gate") == std::string::npos);
}
