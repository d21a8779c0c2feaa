// Gradients of formulas by scores and by every learned parameter, compared with finite differences in double precision.
#include "tests/layers/formula_support.hpp"
#include "tests/layers/module_check.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

void check(const Formulas& f, const LayerChoice& choice, const Extents& e, const Mask& mask, bool composed) {
  Formulated attention(f, choice, e);
  check_module(attention.weights, {attention.q, attention.k, attention.v},
               [&](Pass& pass, const std::vector<Tensor>& x) {
                 const AttentionInputs inputs{
                     .queries = x[0], .values = x[2], .keys = x[1], .mask = attention.with_segments(mask)};
                 Tensor w;
                 return composed ? attention.attention(pass, inputs, &w) : attention.attention(pass, inputs);
               });
}

bool is_smooth(const LayerChoice& choice) {
  const NormalizerInfo& info = normalizer_info(choice.attention.normalizer);
  return !(info.gradient_of && info.gradient_of(choice.normalizer_options));
}

} // namespace

TEST_CASE("every formula has the right gradient under every mask", "[gradient][formula]") {
  const Extents e{.heads = 2, .queries = 3, .keys = 5, .query_width = 2, .key_width = 2, .value_width = 2};
  for (const Formulas& f : formula_cases())
    for (const MaskCase& mask : masks(e))
      for (const bool composed : {false, true}) {
        INFO(f.text() << ", " << mask.name << (composed ? ", composed" : ", streaming"));
        check(f, choice_of(score_info("scaled_dot")), e, mask(), composed);
      }
}

TEST_CASE("formulas have the right gradient with every score and normaliser", "[gradient][formula]") {
  const Formulas f{"where(i - j < 2, 2 * tanh(s / 2), s * gain) + bias",
                   "j <= i + 1 or j == 3",
                   {{.name = "gain", .per = "head", .start = "0.8"},
                    {.name = "bias", .per = "head_and_distance", .start = "0.1 * (i - j)", .furthest = 2}}};
  for_each_attention([&](const LayerChoice& choice, const ScoreInfo& score) {
    if (!is_smooth(choice)) return;
    check(f, choice,
          {.batch = 1,
           .heads = 2,
           .queries = 3,
           .keys = 4,
           .query_width = 2,
           .key_width = score.equal_widths ? 2 : 3,
           .value_width = 2},
          {}, false);
  });
}

TEST_CASE("a pair that is hidden, or that has no weight, gives no gradient, whatever the formula comes to there",
          "[gradient][formula]") {
  // log(s) is NaN for a negative s, and its derivative is unbounded at 0.
  const Extents e{.heads = 2, .queries = 3, .keys = 4, .query_width = 2, .key_width = 2, .value_width = 2};
  for (const bool composed : {false, true})
    check({"where(j == 2, log(j - 2) + s, s)", "j != 2"}, choice_of(score_info("dot")), e, {.causal = true}, composed);
}

TEST_CASE("min and max of equal numbers have their gradient once", "[gradient][formula]") {
  const Extents e{.heads = 2, .queries = 3, .keys = 4, .query_width = 2, .key_width = 2, .value_width = 2};
  for (const bool composed : {false, true})
    for (const char* score : {"min(s, s)", "max(s, s)", "s + min(max(s, s), s)"}) {
      INFO(score << (composed ? ", composed" : ", streaming"));
      check({score, "", {}}, choice_of(score_info("dot")), e, {}, composed);
    }
}
