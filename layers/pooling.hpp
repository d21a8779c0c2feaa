// Pooling: turns a sequence of vectors into one vector, by mean, first, last or attention with a learned query.
#pragma once

#include "layers/attention/attention.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// The names of the pooling methods: mean, first, last, context.
std::vector<std::string> pooling_words();

/// x [B, T, width] to [B, width], ignoring padding:
///   mean, first, last:  of the vectors x_t
///   context:            sum_t w_t x_t, w = normaliser(s(u, k_1), s(u, k_2), ...), k_t = tanh(W x_t + b), where u is a
///                       learned query, the same for all sequences (Yang et al. 2016, "Hierarchical Attention Networks
///                       for Document Classification"); any score and normaliser can be used
class Pooling {
public:
  struct Sizes {
    std::int64_t width = 0;
    std::int64_t longest = 0; ///< upper bound on the sequence length; 0: unknown
  };

  /// The parameters of `context` are named `query` (u), `keys` (W, b) and `score`. Throws heed::Failed for an unknown
  /// word.
  Pooling(const Scope& scope, const std::string& word, const LayerChoice& choice, const Sizes& sizes);

  /// lengths: [B]; null: no padding.
  Tensor operator()(Pass& pass, const Tensor& x, const std::int32_t* lengths) const;

private:
  struct Context {
    ParameterId query;
    Linear keys;
    Attention attend;
  };
  Tensor mean_of_range(const Tensor& x, const std::int32_t* lengths) const;
  Tensor by_context(Pass& pass, const Tensor& x, const std::int32_t* lengths) const;

  std::size_t kind_;
  std::optional<Context> context_;
};

} // namespace heed::HEED_REAL
