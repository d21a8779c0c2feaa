// The keys that one query may attend to, and the copies between a full row of scores and the visible part of it.
#pragma once

#include "autograd/kernels/simd.hpp"
#include "autograd/mask.hpp"
#include "autograd/row_rule.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

/// The keys that one query may attend to. Copies their elements of a row into one contiguous piece, and back.
struct Seen {
  Mask::Range range;
  const std::uint8_t* allowed;

  bool in_one_piece() const { return !allowed && range.in_one_piece(); }
  bool counts(std::int64_t j) const { return range.has(j) && (!allowed || allowed[j]); }

  const Real* gather(const Real* row, Real* scratch) const {
    if (in_one_piece()) return row + range.begin;
    Real* next = scratch;
    for (std::int64_t j = range.first(); j < range.end; ++j)
      if (counts(j)) *next++ = row[j];
    return scratch;
  }
  std::int64_t count() const {
    if (!allowed) return range.count();
    std::int64_t n = 0;
    for (std::int64_t j = range.first(); j < range.end; ++j) n += counts(j) ? 1 : 0;
    return n;
  }
  /// These keys as the row of a rule. `own` is the query's own position.
  RowKeys keys(const RowRule& rule, std::int64_t own) const {
    RowKeys out{.n = count()};
    if (!rule.is_ordered()) return out;
    out.own = counts(own);
    if (!allowed) out.earlier = range.count_before(own);
    else
      for (std::int64_t j = range.first(); j < std::min(range.end, own); ++j) out.earlier += counts(j) ? 1 : 0;
    return out;
  }
  /// The best place for the elements that `scatter` will read: their place in the row if it is contiguous, otherwise
  /// `scratch`.
  Real* place(Real* row, Real* scratch) const { return in_one_piece() ? row + range.begin : scratch; }
  /// The inverse of `gather`. Keys that the query may not see get zeros.
  void scatter(const Real* numbers, Real* row, std::int64_t keys, bool overwrite) const {
    if (overwrite) {
      std::fill_n(row, range.first(), Real{0});
      std::fill(row + range.end, row + keys, Real{0});
    }
    if (numbers == row + range.begin) return;
    if (in_one_piece()) {
      map(range.end - range.begin,
          [&](std::int64_t j, int m) { accumulate(row + range.begin + j, load(numbers + j, m), overwrite, m); });
      return;
    }
    for (std::int64_t j = range.first(); j < range.end; ++j) {
      const bool here = counts(j);
      accumulate(row[j], here ? *numbers : Real{0}, overwrite);
      numbers += here ? 1 : 0;
    }
  }
};

} // namespace heed::HEED_REAL
