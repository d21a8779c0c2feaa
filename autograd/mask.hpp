// Mask: the rules for which keys each query may attend to (causal, prefix, window, dilation, padding, explicit matrix).
#pragma once

#include <algorithm>
#include <cstdint>

namespace heed {

/// The segments of tokens, such as the documents of one text: the number of the segment at each position of each batch
/// entry. Attention formulas, recurrences and convolutions read them.
struct Segments {
  const std::int32_t* numbers = nullptr; ///< [B, at least as many positions as there are]; null: there are none
  std::int64_t row = 0;                  ///< the distance between the numbers of two entries

  const std::int32_t* of(std::int64_t b) const { return numbers + b * row; }
};

/// The keys that a query may attend to. A key must satisfy all of the conditions below. A query that may attend to no
/// key gives zeros and a zero gradient. Key j is at position j, and query i is at position i + offset. Pointers must
/// stay valid until the backward pass is done.
struct Mask {
  /// A query attends to no key that comes after its own position.
  bool causal = false;
  /// The first `prefix` keys are exempt from `causal`, `window` and `dilation`. Every query, including the queries in
  /// the prefix, attends to them, except to keys that are padding or not `allowed`.
  std::int64_t prefix = 0;
  /// The position of query 0. It is above 0 where the queries follow cached keys.
  std::int64_t offset = 0;
  /// A query attends to keys at most this far from its own position, on both sides; negative: at any distance.
  std::int64_t window = -1;
  /// A query attends to keys whose distance from its own position is a multiple of this; 1: any distance.
  std::int64_t dilation = 1;
  /// [B]: the number of keys of each batch entry; later keys are padding. Null: there is no padding.
  const std::int32_t* lengths = nullptr;
  /// [B or 1, H or 1, Tq, Tk], row-major: nonzero where a query may attend to a key; null: everywhere.
  const std::uint8_t* allowed = nullptr;
  /// Does the whole batch share one `allowed`?
  bool allowed_shared = true;
  /// The number of `allowed` matrices of each batch entry: one for all heads, or one for each head.
  std::int64_t allowed_heads = 1;
  /// The strides of the rows and of the matrices of `allowed`; 0: contiguous.
  std::int64_t allowed_row = 0, allowed_matrix = 0;
  /// The segments of the queries (query i is at position i + offset) and of the keys. They hide nothing by themselves.
  Segments query_segments{}, key_segments{};

  /// The keys begin, begin + step, ..., end - 1, and, with a prefix, also the keys 0, ..., prefix - 1. With step 1, a
  /// prefix that touches the other keys is merged into their range: either prefix = 0 or 0 < prefix < begin < end. With
  /// a larger step, the prefix stays separate, and prefix <= begin.
  struct Range {
    std::int64_t begin, end, prefix = 0, step = 1;

    /// The first key, and the number of keys.
    std::int64_t first() const { return prefix > 0 ? 0 : begin; }
    std::int64_t count() const { return prefix + (end - begin + step - 1) / step; }
    /// The number of keys before key j.
    std::int64_t count_before(std::int64_t j) const {
      return Range{begin, std::clamp(j, begin, end), std::clamp<std::int64_t>(j, 0, prefix), step}.count();
    }
    bool in_one_piece() const { return prefix == 0 && step == 1; }
    bool has(std::int64_t j) const {
      return j < prefix || (j >= begin && j < end && (step == 1 || (j - begin) % step == 0));
    }
    /// Is any of the keys from ... to - 1 in the range? With step > 1, keys between the steps count as in the range,
    /// too.
    bool meets(std::int64_t from, std::int64_t to) const {
      return from < prefix || (std::max(begin, from) < std::min(end, to));
    }
  };
  /// The keys that query i of batch entry b may attend to by all conditions except `allowed`, out of `keys` keys: 0 <=
  /// begin <= end <= keys.
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
    if (dilation > 1) keep_steps(r, at);
    r.begin = std::min(r.begin, r.end); // a window may lie beyond the last key
    if (prefix > 0) add_prefix(r, lengths ? std::min<std::int64_t>(keys, lengths[b]) : keys);
    return r;
  }
  /// The row of `allowed` for query i of batch entry b and head h, or null.
  const std::uint8_t* row(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t queries,
                          std::int64_t keys) const {
    if (!allowed) return nullptr;
    const std::int64_t step = allowed_row ? allowed_row : keys;
    const std::int64_t matrix = (allowed_shared ? 0 : b) * allowed_heads + (allowed_heads > 1 ? h : 0);
    return allowed + matrix * (allowed_matrix ? allowed_matrix : queries * step) + i * step;
  }
  /// The mask of batch entry b only, with query `first` as its query 0. `queries` and `keys` are the numbers in the
  /// whole mask. The result may be used for any number of queries starting at `first`, and any number of keys starting
  /// at key 0.
  Mask part(std::int64_t b, std::int64_t first, std::int64_t queries, std::int64_t keys) const {
    Mask m = *this;
    m.offset += first;
    if (lengths) m.lengths += b;
    m.allowed = row(b, 0, first, queries, keys);
    m.allowed_shared = true;
    m.allowed_row = allowed_row ? allowed_row : keys;
    m.allowed_matrix = allowed_matrix ? allowed_matrix : queries * m.allowed_row;
    if (query_segments.numbers) m.query_segments.numbers = query_segments.of(b);
    if (key_segments.numbers) m.key_segments.numbers = key_segments.of(b);
    return m;
  }
  bool everywhere() const { return !causal && window < 0 && dilation == 1 && !lengths && !allowed; }

private:
  // Requires that r begins at the query's own position or before it.
  void keep_steps(Range& r, std::int64_t at) const {
    r.begin += (at - r.begin) % dilation;
    if (r.begin >= r.end) return;
    r.end = r.begin + (r.end - r.begin - 1) / dilation * dilation + 1;
    if (r.end - r.begin > 1) r.step = dilation;
  }
  void add_prefix(Range& r, std::int64_t keys) const {
    const std::int64_t first = std::min(prefix, keys);
    if (r.step > 1) {
      if (r.begin < first) r.begin += (first - r.begin + r.step - 1) / r.step * r.step;
      if (r.begin < r.end) r.prefix = first;
      else r = {0, first};
      return;
    }
    if (r.begin == r.end) r = {0, first};
    else if (first >= r.begin) r = {0, std::max(first, r.end)};
    else r.prefix = first;
  }
};

} // namespace heed
