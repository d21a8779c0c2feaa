// A bias of the scores that the caller has stored for all pairs.
#pragma once

#include "layers/position/relative.hpp"

namespace heed::HEED_REAL {

/// Adds an array [H or 1, Tq, Tk] to the scores, after the bias of another scheme.
class StoredBiasPosition final : public RelativePosition {
public:
  /// `first`: the position of query 0. Null: there is no other scheme.
  StoredBiasPosition(const RelativePosition* scheme, const Tensor& numbers, std::int64_t first)
      : scheme_(scheme), numbers_(numbers), first_(first) {}

  Tensor rotate(Pass& pass, const Tensor& x, std::int64_t first, Rotated of) const override {
    return scheme_ ? scheme_->rotate(pass, x, first, of) : x;
  }
  bool rotates() const override { return scheme_ && scheme_->rotates(); }
  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override;
  bool has_values() const override { return scheme_ && scheme_->has_values(); }
  Tensor values(Pass& pass, const Tensor& weights, const Mask& mask) const override {
    return scheme_->values(pass, weights, mask);
  }

private:
  const RelativePosition* scheme_;
  Tensor numbers_;
  std::int64_t first_;
};

} // namespace heed::HEED_REAL
