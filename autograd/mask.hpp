// Who may attend to whom.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heed {

/// One contract everywhere: true means attend; a row that may attend to nothing gives zeros and a zero gradient.
/// All conditions must hold at once. Pointers must stay valid until the backward pass is done.
struct Mask {
  /// Query i attends to keys 0 .. i + offset only.
  bool causal = false;
  /// Where causal, the first keys, this many, are seen by every query all the same: tokens of a prefix see each other.
  std::int64_t prefix = 0;
  /// Position of query 0 among the keys (queries that come after cached keys).
  std::int64_t offset = 0;
  /// Query i attends to keys within this many positions of i + offset only; negative: no window.
  std::int64_t window = -1;
  /// [B]: keys at and beyond this many are padding; null: none.
  const std::int32_t* lengths = nullptr;
  /// [B or 1, Tq, Tk], row-major: nonzero where a query may attend to a key; null: everywhere.
  const std::uint8_t* allowed = nullptr;
  /// Is `allowed` one matrix for the whole batch?
  bool allowed_shared = true;
  /// Entries from one row of `allowed` to the next; 0: as many as there are keys.
  std::int64_t allowed_row = 0;

  struct Range {
    std::int64_t begin, end;
  };
  /// The keys that query i of batch entry b may see, as far as ranges tell: 0 <= begin <= end <= keys.
  Range range(std::int64_t b, std::int64_t i, std::int64_t keys) const {
    Range r{0, keys};
    const std::int64_t at = i + offset;
    if (lengths) r.end = std::min<std::int64_t>(r.end, lengths[b]);
    if (causal) r.end = std::min(r.end, std::max(at + 1, prefix));
    if (window >= 0) {
      r.begin = std::max<std::int64_t>(r.begin, at - window);
      r.end = std::min(r.end, at + window + 1);
    }
    r.end = std::max<std::int64_t>(r.end, 0);
    r.begin = std::min(r.begin, r.end);  // a window may lie beyond the last key
    return r;
  }
  /// The row of `allowed` for query i of batch entry b, or null.
  const std::uint8_t* row(std::int64_t b, std::int64_t i, std::int64_t queries, std::int64_t keys) const {
    return allowed ? allowed + ((allowed_shared ? 0 : b) * queries + i) * (allowed_row ? allowed_row : keys) : nullptr;
  }
  /// The mask of batch entry b by itself, for its queries from `first` on of so many. It serves any number of its first
  /// keys, too.
  Mask part(std::int64_t b, std::int64_t first, std::int64_t queries, std::int64_t keys) const {
    Mask m = *this;
    m.offset += first;
    if (lengths) m.lengths += b;
    m.allowed = row(b, first, queries, keys);
    m.allowed_shared = true;
    m.allowed_row = allowed_row ? allowed_row : keys;
    return m;
  }
  bool everywhere() const { return !causal && window < 0 && !lengths && !allowed; }
};

} // namespace heed
