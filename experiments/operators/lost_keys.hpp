// Keys and values that are not finite: only queries that may attend to them must notice.
#pragma once

#include "layers/attention/attention.hpp"

#include <cstdint>
#include <vector>

namespace heed::HEED_REAL {

/// Padding, and a cache that is not full, may hold anything, also NaN. A weight of 0 does not hide it, because 0 * NaN
/// is NaN. So where some keys or values are not finite, attention is computed with zeros in place of such numbers
/// (finite_or_zero), and NaN is added to the results of the queries that may attend to such a key.
class LostKeys {
public:
  /// @param choice  of the attention, for its masks
  LostKeys(const LayerChoice& choice, std::int64_t heads, std::int64_t longest);

  /// The positions of x [B, H, T, D] or [B, T, D] with a number that is not finite.
  struct Found {
    std::int64_t batch = 0, positions = 0;
    std::vector<std::uint8_t> lost; ///< [B, T]; empty: there is none

    bool any() const { return !lost.empty(); }
    void add(const Found& other);
    /// Adds the positions that have one of these among the `earlier` positions before them.
    void spread(std::int64_t earlier);
  };
  static Found in(const Tensor& x);

  /// What is to be added to the results of queries, [B, H, Tq, 1]: NaN for those that may attend to a lost key, else 0.
  Tensor for_queries(Tape& tape, const Found& keys, std::int64_t queries, const Mask& mask) const;
  /// The same for the results of all heads, [B, Tq, 1]. @param own  of the queries' tokens, which get NaN, too
  Tensor for_tokens(Tape& tape, const Found& own, const Found& keys, std::int64_t queries, const Mask& mask) const;

private:
  std::int64_t heads_;
  mutable Parameters none_;
  Attention even_; // with equal weights for all keys that a query may attend to
};

} // namespace heed::HEED_REAL
