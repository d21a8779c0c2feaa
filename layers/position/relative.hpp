// The interface of positional schemes that act within attention: they rotate queries and keys, add a bias to scores, or
// add values to weighted sums.
#pragma once

#include "autograd/attention_bias.hpp"
#include "layers/layer_options.hpp"
#include "layers/module.hpp"

#include <memory>
#include <vector>

namespace heed::HEED_REAL {

/// The sizes that such a scheme is made for.
struct RelativeSizes {
  std::int64_t heads = 1;
  std::int64_t query_width = 0; ///< of one head
  std::int64_t value_width = 0; ///< of one head
  std::int64_t longest = 0;     ///< greatest sequence length in training and evaluation
  std::int64_t trained = 0;     ///< greatest sequence length in training; 0: `longest`
  bool operator==(const RelativeSizes&) const = default;
};

/// What a scheme rotates.
enum class Rotated { queries, keys };

/// Self attention with a scheme is normaliser(s(rotate(q_i), rotate(k_j)) + bias_ij) v + values_i. There may be keys
/// before the first query (Mask::offset): cached keys in decoding, or the keys of earlier queries.
class RelativePosition {
public:
  virtual ~RelativePosition() = default;
  /// Rotates queries or keys x [B, H, T, D] of positions first, first + 1, ... before the scores. In decoding, keys are
  /// rotated once, before they are cached.
  virtual Tensor rotate(Pass&, const Tensor& x, std::int64_t /*first*/, Rotated) const { return x; }
  /// Does `rotate` change anything?
  virtual bool rotates() const { return false; }
  /// The bias of the scores, from the unrotated queries [B, H, Tq, D] and the number of keys; null: none.
  virtual AttentionBias* bias(Pass&, const Tensor& /*queries*/, std::int64_t /*keys*/, const Mask&) const {
    return nullptr;
  }
  /// Does the scheme act on pairs, rather than on each query and key separately?
  virtual bool is_of_pairs() const { return true; }
  /// Does the scheme add to the weighted sums? If so, the weights must be computed, and nothing streams.
  virtual bool has_values() const { return false; }
  /// The summand for the weighted sums, [B, H, Tq, Dv], from weights [B, H, Tq, Tk].
  virtual Tensor values(Pass&, const Tensor& /*weights*/, const Mask&) const { return {}; }
};

/// The arguments of `pair`: the bias of one pair of positions in plain loops, without the engine, as the tests'
/// reference. `parameters` are the scheme's own, in the order in which it added them.
struct RelativeArguments {
  const Real* query;     ///< [query_width]
  std::int64_t distance; ///< key position minus query position: negative for an earlier key
  RelativeSizes sizes;
  std::int64_t head;
  std::vector<const Real*> parameters;
  const OptionValues* options;
};
/// The arguments of `rotate`: one query or key in plain loops, likewise.
struct RotationArguments {
  const Real* x; ///< [width]
  std::int64_t width, position;
  Rotated of;
  std::int64_t trained; ///< greatest sequence length in training
  const OptionValues* options;
};
struct RelativeBias {
  Real score = 0;
  std::vector<Real> value{}; ///< added to the key's value; empty: nothing
};

} // namespace heed::HEED_REAL
