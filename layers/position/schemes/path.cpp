#include "autograd/causal_convolution.hpp"
#include "layers/attention/part.hpp"
#include "layers/mixers/low_rank_linear.hpp"
#include "layers/position/position.hpp"
#include "layers/unit_length.hpp"

#include <cmath>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t rank = 32;
  std::int64_t convolution = 3;
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("rank", &Options::rank,
             "rank of the map from a token to the directions of all heads: W2 W1 with W1 [rank, width]; the authors' "
             "code has one matrix if heads share keys")
          .between(0, 65536)
          .default_means("0: one matrix"),
      option("convolution", &Options::convolution,
             "taps of the causal convolution of directions along the tokens, with SiLU after it; it begins anew with "
             "each segment")
          .between(0, 1024)
          .unit("tokens")
          .default_means("0: neither convolution nor SiLU"));
  return t;
}

/// PaTH attention (Yang et al. 2025, arXiv 2505.16381). In place of q_i . k_j, the score has
///   q_i^T H_i H_(i-1) ... H_(j+1) k_j   with   H_t = I - b_t w_t w_t^T,
/// for each head of keys: w_t = u / |u| with u = SiLU(convolution(W2 W1 x_t)), and b_t = 2 sigmoid(W x_t + c). c starts
/// at 0, so all b start near 1. |u| is sqrt(sum of u^2 + 1e-6), as in flash-linear-attention.
///
/// A segment needs no other matrices: between a query and a key of its own segment, all tokens belong to it.
class Path final : public AttentionPart {
public:
  Path(const Scope& scope, const PartSizes& sizes, const Options& options)
      : heads_(sizes.key_heads), taps_(options.convolution),
        directions_(scope / "direction_low_rank", scope / "direction", sizes.width, options.rank,
                    sizes.key_heads * sizes.query_width, false) {
    if (taps_ > 0) filters_ = (scope / "convolution").filters("weight", {heads_ * sizes.query_width, taps_});
    strengths_.emplace(scope / "strength", sizes.width, heads_, Init::zeros());
  }

  void inputs(Pass& pass, const Tensor& x, const PartTokens& tokens, AttentionInputs& to) const override {
    Tensor u = directions_(pass, x);
    if (filters_) {
      const ConvolutionStart start{.before = tokens.kept ? tokens.kept->on(pass.tape()) : Tensor{},
                                   .segments = tokens.segments,
                                   .first = tokens.first};
      if (tokens.kept && taps_ > 1) tokens.kept->set_last(u, taps_ - 1);
      u = silu(causal_convolution(u, pass(*filters_), nullptr, start));
    }
    to.householder = {of_length_one(split_heads(u, heads_)),
                      column_of_heads(scale(sigmoid((*strengths_)(pass, x)), 2))};
  }
  std::optional<std::int64_t> earlier_tokens() const override { return taps_ > 0 ? taps_ - 1 : 0; }

private:
  std::int64_t heads_, taps_;
  LowRankLinear directions_;
  std::optional<ParameterId> filters_;
  std::optional<Linear> strengths_;
};

// ---- in plain loops -------------------------------------------------------------------------------------------------

using Numbers = std::vector<double>;

Numbers mapped(const Real* matrix, const Real* bias, std::int64_t rows, const Numbers& x) {
  Numbers y(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = bias ? static_cast<double>(bias[i]) : 0;
    for (std::size_t d = 0; d < x.size(); ++d) y[i] += static_cast<double>(matrix[i * x.size() + d]) * x[d];
  }
  return y;
}

double product(const PartSequence& sequence, std::int64_t head, std::int64_t i, std::int64_t j) {
  const Options options = table().read(sequence.choice->position_options);
  const PartSizes& s = sequence.sizes;
  const std::int64_t maps = s.query_heads / s.heads, key_maps = s.key_heads / s.value_heads,
                     of_key = head / maps / (s.heads / s.value_heads) * key_maps + head % maps % key_maps,
                     width = s.query_width;
  auto parameter = sequence.parameters.begin();
  const Real* const low = options.rank > 0 ? *parameter++ : nullptr;
  const Real* const map = *parameter++;
  const Real* const filters = options.convolution > 0 ? *parameter++ : nullptr;
  const Real *const strength = parameter[0], *const bias = parameter[1];
  const auto token = [&](std::int64_t t) {
    const std::vector<Real>& x = sequence.x[static_cast<std::size_t>(t)];
    return Numbers(x.begin(), x.end());
  };
  const auto projected = [&](std::int64_t t) {
    const Numbers x = token(t);
    return mapped(map, nullptr, s.key_heads * width, low ? mapped(low, nullptr, options.rank, x) : x);
  };
  const auto direction = [&](std::int64_t t) {
    Numbers u = projected(t);
    if (filters) {
      std::ranges::fill(u, 0);
      for (std::int64_t n = 0; n < std::min(options.convolution, t + 1); ++n) {
        const Numbers earlier = projected(t - n);
        for (std::size_t c = 0; c < u.size(); ++c)
          u[c] += earlier[c] *
                  static_cast<double>(
                      filters[static_cast<std::int64_t>(c) * options.convolution + options.convolution - 1 - n]);
      }
      for (double& each : u) each /= 1 + std::exp(-each);
    }
    Numbers w(u.begin() + of_key * width, u.begin() + (of_key + 1) * width);
    double squares = 1e-6;
    for (const double each : w) squares += each * each;
    for (double& each : w) each /= std::sqrt(squares);
    return w;
  };
  const auto dot = [](const Numbers& x, const Numbers& y) {
    double sum = 0;
    for (std::size_t d = 0; d < x.size(); ++d) sum += x[d] * y[d];
    return sum;
  };
  const auto of_head = [&](const std::vector<Real>& all, std::int64_t h) {
    return Numbers(all.begin() + h * width, all.begin() + (h + 1) * width);
  };
  Numbers key = of_head(sequence.k[static_cast<std::size_t>(j)], of_key);
  for (std::int64_t t = j + 1; t <= i; ++t) {
    const Numbers w = direction(t), logits = mapped(strength, bias, s.key_heads, token(t));
    const double b = 2 / (1 + std::exp(-logits[static_cast<std::size_t>(of_key)])), part = b * dot(w, key);
    for (std::size_t d = 0; d < key.size(); ++d) key[d] -= part * w[d];
  }
  return dot(of_head(sequence.q[static_cast<std::size_t>(i)], head), key);
}

} // namespace

extern const PositionInfo position_path{
    .about =
        {.name = "path",
         .summary =
             "PaTH: q_i . k_j becomes q_i^T H_i ... H_(j+1) k_j, with H_t = I - b w w^T for each token t between "
             "them: w of length 1 from SiLU of a convolution of W2 W1 x, b = 2 sigmoid(w' . x + c)",
         .paper = "Yang et al. 2025, arXiv 2505.16381",
         .equals = "none if all b are 0",
         .cost = "rank * width parameters, and (rank + 3) d + width + 1 for each head of keys; "
                 "2 d + d^2 / 32 operations for each pair in place of 2 d; nothing streams: attention runs in blocks "
                 "of queries, "
                 "twice in training, with memory that is linear in the length; in decoding, each token changes all "
                 "stored keys, with 4 d operations for each",
         .options = table().options(),
         .disables = {"position.combine", "position.width", "position.concat", "position.shared", "init.position"},
         .excludes =
             {{{{"", "attention.causal", {"false"}, false, {{"", "attention.prefix", {"0", "1"}, true}}}},
               "path has a matrix for each token between a key and a later query: it needs attention.causal = true, "
               "and "
               "a prefix of at most 1 (in an encoder-decoder, choose it by [[block.override]] with stack = "
               "\"decoder\")"},
              {{{"", "attention.score", {"dot", "scaled_dot"}, true}},
               "path puts matrices between the query and the key of a product: choose attention.score = \"scaled_dot\" "
               "or \"dot\""},
              {{{"", "attention.selection", {"none"}, true}},
               "a selection compares queries with mean keys, and with path a key is another one for each query: set "
               "attention.selection = \"none\""},
              {{{"", "model.registers", {OptionCondition::anything}}},
               "path has a matrix for each token between a key and the query, and registers have no position; set "
               "model.registers = 0"},
              {{{"", "attention.persistent_keys", {OptionCondition::anything}}},
               "path has a matrix for each token between a key and the query, and persistent keys have no position; "
               "set "
               "attention.persistent_keys = 0"}}},
    .has_vectors = false,
    .make = nullptr,
    .make_part = [](const Scope& scope, const PartSizes& sizes, const OptionValues& options)
        -> std::unique_ptr<AttentionPart> { return std::make_unique<Path>(scope, sizes, table().read(options)); },
    .product = product};

} // namespace heed::HEED_REAL
