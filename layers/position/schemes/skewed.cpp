#include "autograd/relative.hpp"
#include "layers/position/position.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

/// Relative attention of the Music Transformer.
class MusicTransformerPosition : public RelativePosition {
public:
  MusicTransformerPosition(const Scope& scope, const RelativeSizes& sizes)
      : longest_(sizes.longest), factor_(static_cast<Real>(1 / std::sqrt(static_cast<double>(sizes.query_width)))),
        weight_(scope.position("weight", {sizes.heads, sizes.longest, sizes.query_width})) {}

  // The last row of the vectors is for distance 0. Later keys have no vectors, because no query sees them.
  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override {
    const Op op("position", {&queries});
    const std::int64_t length = queries.shape[2];
    op.check(mask.causal && mask.prefix <= 1 && mask.offset + length == keys,
             "skewed positions need causal self attention without a prefix, in which the last query is at the last "
             "key; there are {} queries after {} of {} keys",
             length, mask.offset, keys);
    op.check(keys <= longest_,
             "skewed positions exist up to the distance {}, from training's longest sequence, but a sequence of {} is "
             "needed: "
             "take shaw with a clip for any length",
             longest_, keys);
    return bias_by_vector(scale(queries, factor_), pass(weight_), 1 - longest_, mask.offset);
  }

private:
  std::int64_t longest_;
  Real factor_;
  ParameterId weight_;
};

RelativeBias pair(const RelativeArguments& a) {
  const Real* vector = a.parameters[0] +
                       (a.head * a.sizes.longest + a.sizes.longest - 1 + a.distance) * a.sizes.query_width;
  RelativeBias out;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) out.score += a.query[d] * vector[d];
  out.score /= std::sqrt(static_cast<Real>(a.sizes.query_width));
  return out;
}

} // namespace

extern const PositionInfo position_skewed{
    .about = {.name = "skewed",
              .summary = "learned vectors for each distance and head, for causal attention: q_i . a(j - i) / sqrt(d) "
                         "is added to the score",
              .paper = "Huang et al. 2018, arXiv 1809.04281 (Music Transformer), by its skewing procedure",
              .equals = "shaw with clip = 0 and with vectors that are the same for all heads",
              .cost = "d parameters for each position and head; 2 d operations for each pair; no sequences longer than "
                      "training's",
              .disables = {"position.combine", "position.width", "position.concat"},
              .excludes = {{{{"", "attention.causal", {"false"}, false, {{"", "attention.prefix", {"0", "1"}, true}}}},
                            "skewed positions have vectors only for earlier positions: they need attention.causal = "
                            "true and attention.prefix = 1 or 0; for both sides, take shaw"}}},
    .has_vectors = false,
    .make = nullptr,
    .make_relative = [](const Scope& scope, const RelativeSizes& sizes, const OptionValues&)
        -> std::unique_ptr<RelativePosition> { return std::make_unique<MusicTransformerPosition>(scope, sizes); },
    .pair = pair};

} // namespace heed::HEED_REAL
