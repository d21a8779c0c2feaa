// A positional scheme for rows that begin with vectors without a position: learned keys, or register tokens.
#pragma once

#include "layers/position/relative.hpp"

#include <memory>
#include <utility>

namespace heed::HEED_REAL {

/// The scheme for the positions after the first `before` ones, which have none: the row's position t is at before + t.
/// Queries and keys without a position are not rotated. A pair of which one has no position gets no bias and no value.
class RowPosition final : public RelativePosition {
public:
  RowPosition(std::shared_ptr<const RelativePosition> scheme, std::int64_t before)
      : scheme_(std::move(scheme)), before_(before) {}

  void check(const AttentionOptions& options) const override { scheme_->check(options); }
  Tensor rotate(Pass& pass, const Tensor& x, std::int64_t first, Rotated of) const override;
  bool rotates() const override { return scheme_->rotates(); }
  AttentionBias* bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const override;
  bool is_of_pairs() const override { return scheme_->is_of_pairs(); }
  bool has_values() const override { return scheme_->has_values(); }
  Tensor values(Pass& pass, const Tensor& weights, const Mask& mask) const override;

private:
  // The number of queries without a position, of `count` queries of which the first one is at `offset`.
  std::int64_t unplaced(std::int64_t offset, std::int64_t count) const;
  Mask of_row(const Mask& mask) const;

  std::shared_ptr<const RelativePosition> scheme_;
  std::int64_t before_;
};

} // namespace heed::HEED_REAL
