#include "layers/attention/score.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

class Location : public Score {
public:
  Location(const Scope& scope, const ScoreSizes& sizes) : longest_(sizes.longest) {
    if (longest_ < 1)
      throw Failed("[attention] the score 'location' has parameters for each key's position and needs the length of "
                   "the longest sequence, which its model does not state");
    weight_ = scope.weight("weight", {sizes.heads, longest_, sizes.query_width},
                           Init::uniform(1.0 / std::sqrt(static_cast<double>(sizes.query_width))));
  }

  // Row j of W is used as key j.
  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    const std::int64_t sequences = keys.shape[0], count = keys.shape[2];
    if (count > longest_)
      throw Failed(fmt::format("[attention] the score 'location' has learned numbers for {} keys, the length of "
                               "training's longest sequence, but there are {} keys: take a score that is computed from "
                               "keys, such as dot, for any length",
                               longest_, count));
    const Tensor own = unsqueeze(slice(pass(weight_), 1, 0, count), 0);
    return DotProductForm{queries, add(pass.tape().zeros({sequences, 1, 1, 1}), own)};
  }

private:
  std::int64_t longest_;
  ParameterId weight_;
};

Real pair(const PairArguments& a) {
  const Real* w = a.parameters[0] + (a.head * a.sizes.longest + a.key_position) * a.sizes.query_width;
  Real s = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) s += w[d] * a.query[d];
  return s;
}

} // namespace

extern const ScoreInfo score_location{
    .about = {.name = "location",
              .summary = "s(q, k_j) = (W q)_j, with W for each head: the score depends only on the query and the key's "
                         "position",
              .paper = "Luong, Pham and Manning 2015, arXiv 1508.04025 (\"location\")",
              .equals = "dot with row j of W as key j",
              .cost = "Dq parameters for each position and head; 2 Dq operations for each pair; no keys beyond "
                      "training's longest sequence",
              .disables = {"attention.persistent_keys"}},
    .equal_widths = false,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues&) -> std::unique_ptr<Score> {
      return std::make_unique<Location>(scope, sizes);
    },
    .pair = pair};

} // namespace heed::HEED_REAL
