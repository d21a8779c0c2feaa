// The interface of selections of keys: rules by which each query attends to some of the keys, chosen by the queries and
// keys themselves.
#pragma once

#include "autograd/mask.hpp"
#include "autograd/tape.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// Chooses keys for each query of causal self attention. The choice has no gradient.
class KeySelection {
public:
  virtual ~KeySelection() = default;
  /// Can the selection hide a key that the mask shows, where there are so many keys?
  virtual bool hides(std::int64_t keys, const Mask& mask) const = 0;
  /// The mask without the pairs that are not chosen. q [B, H, Tq, D] and k [B, H, Tk, D] are the queries and keys as
  /// the score sees them. Queries may be some of a sequence, and later keys may be missing: the choice for a query
  /// depends on neither.
  virtual Mask chosen(const Tensor& q, const Tensor& k, const Mask& mask) const = 0;
};

} // namespace heed::HEED_REAL
