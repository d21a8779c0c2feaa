#include "experiments/operators/stored_bias.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

class StoredBias final : public AttentionBias {
public:
  // `query`: the row of `numbers` that belongs to query 0
  StoredBias(const Tensor& numbers, std::int64_t query) : numbers_(numbers), query_(query) {}

  bool requires_grad() const override { return numbers_.slot->requires_grad; }
  void open(Tape& tape) override { gradient_ = tape.grad_accumulator(numbers_); }
  void add(const ScoreTile& tile, Real* scores) const override {
    each_row(tile, [&](std::int64_t r, std::int64_t at, std::int64_t columns) {
      const Real* from = numbers_.data + at;
      Real* to = scores + r * tile.row;
      for (std::int64_t c = 0; c < columns; ++c) to[c] += from[c];
    });
  }
  void add_gradients(const ScoreTile& tile, const Real* grad_scores) override {
    if (!gradient_) return;
    each_row(tile, [&](std::int64_t r, std::int64_t at, std::int64_t columns) {
      const Real* from = grad_scores + r * tile.row;
      Real* to = gradient_ + at;
      for (std::int64_t c = 0; c < columns; ++c) to[c] += from[c];
    });
  }

private:
  // Calls f(row of the tile, index of its first number, columns) for all rows. A tile may end after the last key.
  template <class F> void each_row(const ScoreTile& tile, const F& f) const {
    const std::int64_t queries = numbers_.shape[1], keys = numbers_.shape[2],
                       head = numbers_.shape[0] == 1 ? 0 : tile.h, columns = std::min(tile.keys, keys - tile.j);
    for (std::int64_t r = 0; r < tile.queries; ++r)
      f(r, (head * queries + query_ + tile.i + r) * keys + tile.j, columns);
  }

  Tensor numbers_;
  std::int64_t query_;
  Real* gradient_ = nullptr;
};

} // namespace

AttentionBias* StoredBiasPosition::bias(Pass& pass, const Tensor& queries, std::int64_t keys, const Mask& mask) const {
  AttentionBias* const stored = keep_bias(pass.tape(), StoredBias(numbers_, mask.offset - first_));
  return sum_of(pass.tape(), scheme_ ? scheme_->bias(pass, queries, keys, mask) : nullptr, stored);
}

} // namespace heed::HEED_REAL
