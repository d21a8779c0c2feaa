// The KV cache: keys and values that attention stores between decoding steps.
#pragma once

#include "layers/attention/algorithm.hpp"
#include "layers/attention/projection.hpp"

#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// Projected keys and values of past positions, or the vectors from which a projection makes both, and forget gates.
/// The cache owns its memory, because tapes may be rewound between steps.
class KVCache : public MixerState {
public:
  /// Appends k [sequences, n, key width], v [sequences, n, value width], and the logarithms of forget gates [sequences,
  /// H, n, 1], if there are any. In place of k and v, there may be StoredVectors (v may then be empty). Throws
  /// heed::Failed if sequences or widths differ from earlier calls.
  void append(const Tensor& k, const Tensor& v, const Tensor& forget = {});
  /// Replaces the keys by k [sequences, length, key width].
  void set_keys(const Tensor& k) { keys_.write(k, 0, capacity_); }
  void select(std::span<const std::int64_t> parents) override;
  std::int64_t numbers(std::int64_t more) const override { return (width() + forget_.width) * (length_ + more); }

  std::int64_t length() const override { return length_; }
  /// [sequences, length, width], on the tape; valid until the next change.
  Tensor keys(Tape& tape) const { return keys_.on(tape, sequences_, length_, capacity_); }
  Tensor values(Tape& tape) const { return values_.on(tape, sequences_, length_, capacity_); }
  StoredVectors stored(Tape& tape) const {
    return {.vectors = keys(tape), .rotated = values_.width > 0 ? values(tape) : Tensor{}};
  }
  /// The number of values that are stored for each position, without forget gates.
  std::int64_t width() const { return keys_.width + values_.width; }
  /// [sequences, H, length, 1].
  Tensor forget(Tape& tape) const { return unsqueeze(transpose(forget_.on(tape, sequences_, length_, capacity_)), 3); }

private:
  struct Store {
    std::int64_t width = 0;
    std::vector<Real> numbers, spare; // [sequences, capacity, width]

    Tensor on(Tape& tape, std::int64_t sequences, std::int64_t length, std::int64_t capacity) const;
    void grow(std::int64_t sequences, std::int64_t length, std::int64_t from, std::int64_t to);
    void write(const Tensor& x, std::int64_t at, std::int64_t capacity);
    void select(std::span<const std::int64_t> parents, std::int64_t length, std::int64_t capacity);
  };
  std::int64_t sequences_ = 0, length_ = 0, capacity_ = 0;
  Store keys_, values_, forget_; // the width of `forget_` is 0 without gates
};

} // namespace heed::HEED_REAL
