// Positional schemes that act within attention, on scores and weighted sums, instead of having vectors for tokens.
#pragma once

#include "autograd/attention_bias.hpp"
#include "layers/layer_options.hpp"
#include "layers/module.hpp"

#include <memory>
#include <vector>

namespace heed::HEED_REAL {

/// What such a scheme is made for.
struct RelativeShape {
  std::int64_t heads = 1;
  std::int64_t query_width = 0; ///< of one head
  std::int64_t value_width = 0; ///< of one head
  std::int64_t longest = 0;     ///< row that the model will be trained with
  bool operator==(const RelativeShape&) const = default;
};

/// Self attention with it is normaliser(s(rotate(q_i), rotate(k_j)) + terms_ij) v + values_i. Queries may come after keys
/// that were there before them (Mask::offset): kept ones in decoding, or those of other queries.
class RelativePosition {
public:
  virtual ~RelativePosition() = default;
  /// Throws heed::Failed where it can't serve attention with these options.
  virtual void check(const AttentionOptions&) const {}
  /// Queries or keys x [B, H, T, D] of positions first, first + 1, ... before they meet. Keys are turned once, before
  /// they are kept.
  virtual Tensor rotate(Pass&, const Tensor& x, std::int64_t /*first*/) const { return x; }
  /// What is added to the scores of queries [B, H, Tq, D], not turned, with so many keys; null: nothing.
  virtual AttentionBias* bias(Pass&, const Tensor& /*queries*/, std::int64_t /*keys*/, const Mask&) const {
    return nullptr;
  }
  /// Does it act on pairs, or on queries and keys one by one?
  virtual bool is_of_pairs() const { return true; }
  /// Does it add to the weighted sums? Then weights must be there, and nothing streams.
  virtual bool has_values() const { return false; }
  /// What is added to the weighted sums, [B, H, Tq, Dv]: weights [B, H, Tq, Tk].
  virtual Tensor values(Pass&, const Tensor& /*weights*/, const Mask&) const { return {}; }
};

/// The terms of one pair of positions in plain loops, written without the engine: what tests compare with. `parameters`
/// are the scheme's own, in the order in which it added them.
struct RelativeArguments {
  const Real* query;     ///< [query_width]
  std::int64_t distance; ///< of the key from the query: negative for one before it
  RelativeShape shape;
  std::int64_t head;
  std::vector<const Real*> parameters;
  const OptionValues* options;
};
struct RelativeBias {
  Real score = 0;
  std::vector<Real> value{}; ///< what is added to the key's value, or nothing
};

} // namespace heed::HEED_REAL
