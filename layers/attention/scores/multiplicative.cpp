#include "layers/attention/score.hpp"

#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t rank = 0;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(option("rank", &Options::rank,
                                                     "W = U V with this rank: U is Dq x rank, V is rank x Dk")
                                                  .between(0, 65536)
                                                  .default_means("0: W is a full matrix"));
  return t;
}

class Multiplicative : public Score {
public:
  // W starts uniformly within 1 / sqrt(Dq), so that the scores of an untrained model do not grow with the width. U has
  // the same range, V^T has 1 / sqrt(Dk).
  Multiplicative(const Scope& scope, const ScoreSizes& sizes, const Options& options) {
    const auto within = [](std::int64_t width) { return Init::uniform(1.0 / std::sqrt(static_cast<double>(width))); };
    if (options.rank == 0) {
      weight_ = scope.weight("weight", {sizes.heads, sizes.query_width, sizes.key_width}, within(sizes.query_width));
      return;
    }
    weight_ = scope.weight("query", {sizes.heads, sizes.query_width, options.rank}, within(sizes.query_width));
    of_keys_ = scope.weight("key", {sizes.heads, sizes.key_width, options.rank}, within(sizes.key_width));
  }

  ScoreForm form(Pass& pass, const Tensor& queries, const Tensor& keys) const override {
    const Tensor q = matmul(queries, pass(weight_));
    if (!of_keys_) return DotProductForm{q, keys};
    return DotProductForm{q, matmul(repeat_heads(keys, queries.shape[1]), pass(*of_keys_))};
  }

private:
  ParameterId weight_;
  std::optional<ParameterId> of_keys_; // only with a low rank
};

Real pair(const PairArguments& a) {
  const std::int64_t rank = table().read(*a.options).rank, dq = a.sizes.query_width, dk = a.sizes.key_width;
  Real s = 0;
  if (rank == 0) {
    const Real* w = a.parameters[0] + a.head * dq * dk;
    for (std::int64_t i = 0; i < dq; ++i)
      for (std::int64_t j = 0; j < dk; ++j) s += a.query[i] * w[i * dk + j] * a.key[j];
    return s;
  }
  const Real *u = a.parameters[0] + a.head * dq * rank, *v = a.parameters[1] + a.head * dk * rank;
  for (std::int64_t r = 0; r < rank; ++r) {
    Real of_query = 0, of_key = 0;
    for (std::int64_t i = 0; i < dq; ++i) of_query += a.query[i] * u[i * rank + r];
    for (std::int64_t j = 0; j < dk; ++j) of_key += a.key[j] * v[j * rank + r];
    s += of_query * of_key;
  }
  return s;
}

} // namespace

extern const ScoreInfo score_multiplicative{
    .about = {.name = "multiplicative",
              .summary = "s(q, k) = q W k, a matrix W for each head, of any rank or of low rank, not scaled",
              .paper = "Luong, Pham and Manning 2015, arXiv 1508.04025 (\"general\")",
              .equals = "dot with W = identity",
              .cost =
                  "Dq Dk parameters for each head; 2 Dq Dk operations for each query and 2 Dk for each pair; with a "
                  "rank, rank (Dq + Dk) parameters and 2 rank operations for each pair",
              .options = table().options()},
    .equal_widths = false,
    .make = [](const Scope& scope, const ScoreSizes& sizes, const OptionValues& options) -> std::unique_ptr<Score> {
      return std::make_unique<Multiplicative>(scope, sizes, table().read(options));
    },
    .pair = pair};

} // namespace heed::HEED_REAL
