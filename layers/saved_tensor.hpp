// A tensor that is stored between decoding steps.
#pragma once

#include "autograd/ops.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// Numbers [sequences, ...]; at first none. They are in memory of its own, because tapes may be rewound between steps.
class SavedTensor {
public:
  bool empty() const { return numbers_.empty(); }
  /// A copy on the tape, without a gradient; without a tape if nothing is stored.
  Tensor on(Tape& tape) const { return empty() ? Tensor{} : tape.copy(numbers_.data(), shape_); }
  void set(const Tensor& x) {
    const Tensor dense = contiguous(x);
    shape_ = x.shape;
    numbers_.assign(dense.data, dense.data + dense.size());
  }
  /// Of what is stored, [sequences, count, C] (zeros, if there is nothing), and the tokens x [sequences, n, C] after
  /// it, stores the last `count`.
  void set_last(const Tensor& x, std::int64_t count) {
    const Tensor before = empty() ? x.tape->zeros({x.shape[0], count, x.shape[2]}) : on(*x.tape);
    set(slice(concat({before, x}, 1), 1, x.shape[1], count));
  }
  /// Sequence i becomes a copy of the earlier sequence parents[i]. The number of sequences may change.
  void select(std::span<const std::int64_t> parents) {
    if (empty()) return;
    const std::int64_t each = numbers_each();
    std::vector<Real> chosen;
    for (const std::int64_t p : parents)
      chosen.insert(chosen.end(), numbers_.begin() + p * each, numbers_.begin() + (p + 1) * each);
    numbers_ = std::move(chosen);
    shape_[0] = std::ssize(parents);
  }
  /// How many numbers are stored for one sequence.
  std::int64_t numbers_each() const { return empty() ? 0 : shape_.size() / shape_[0]; }

private:
  Shape shape_;
  std::vector<Real> numbers_;
};

} // namespace heed::HEED_REAL
