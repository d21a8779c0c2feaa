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
  /// Where causal, the first keys, this many, are seen by every query all the same, before its own place, behind it and
  /// beyond the window: tokens of a prefix see each other, and all others see them.
  std::int64_t prefix = 0;
  /// Position of query 0 among the keys (queries that come after cached keys).
  std::int64_t offset = 0;
  /// Query i attends to keys within this many positions of i + offset only, and to a prefix; negative: no window.
  std::int64_t window = -1;
  /// [B]: keys at and beyond this many are padding; null: none.
  const std::int32_t* lengths = nullptr;
  /// [B or 1, Tq, Tk], row-major: nonzero where a query may attend to a key; null: everywhere.
  const std::uint8_t* allowed = nullptr;
  /// Is `allowed` one matrix for the whole batch?
  bool allowed_shared = true;
  /// Entries from one row of `allowed` to the next; 0: as many as there are keys.
  std::int64_t allowed_row = 0;

  /// Keys begin ... end - 1, and before a gap the keys 0 ... prefix - 1. Where there is a prefix, there is a gap, and
  /// what follows it isn't empty: 0 < prefix < begin < end.
  struct Range {
    std::int64_t begin, end, prefix = 0;

    /// The first key of all, and how many there are.
    std::int64_t first() const { return prefix > 0 ? 0 : begin; }
    std::int64_t count() const { return prefix + end - begin; }
    bool has(std::int64_t j) const { return j < prefix || (j >= begin && j < end); }
    /// Is any of the keys from ... to - 1 among them?
    bool meets(std::int64_t from, std::int64_t to) const {
      return from < prefix || (std::max(begin, from) < std::min(end, to));
    }
  };
  /// The keys that query i of batch entry b may see, as far as ranges tell: 0 <= begin <= end <= keys.
  Range range(std::int64_t b, std::int64_t i, std::int64_t keys) const {
    Range r{0, keys};
    const std::int64_t at = i + offset;
    if (lengths) r.end = std::min<std::int64_t>(r.end, lengths[b]);
    if (causal) r.end = std::min(r.end, at + 1);
    if (window >= 0) {
      r.begin = std::max<std::int64_t>(r.begin, at - window);
      r.end = std::min(r.end, at + window + 1);
    }
    r.end = std::max<std::int64_t>(r.end, 0);
    r.begin = std::min(r.begin, r.end);  // a window may lie beyond the last key
    if (causal && prefix > 0) add_prefix(r, lengths ? std::min<std::int64_t>(keys, lengths[b]) : keys);
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

private:
  void add_prefix(Range& r, std::int64_t keys) const {
    const std::int64_t first = std::min(prefix, keys);
    if (r.begin == r.end) r = {0, first};
    else if (first >= r.begin) r = {0, std::max(first, r.end)};
    else r.prefix = first;
  }
};

} // namespace heed
