// Computes which columns of each tile of keys a strip of queries sees under a formula's mask, so that the attention
// kernels can skip hidden ones.
#include "autograd/kernels/heads.hpp"
#include "autograd/kernels/seen.hpp"
#include "autograd/ops/score_formula_parts.hpp"
#include "autograd/score_formula.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

const Simd unseen(Real{0}), seen_by_all(Real{1});

// The first n lanes; the others are 0.
Simd first_lanes(const Simd& x, int n) {
  alignas(64) Real all[lanes];
  x.store_aligned(all);
  return load(all, n);
}

} // namespace

ScoreFormula::View ScoreFormula::view(std::int64_t i, std::int64_t j) const {
  return views_[i / strip_rows * ((sizes_.keys + key_tile - 1) / key_tile) + j / key_tile];
}

// Padding is ignored, so that the result holds for all entries of the batch, unless the mask itself depends on them.
void ScoreFormula::look() {
  Mask ranges = sizes_.mask;
  ranges.lengths = nullptr;
  if (counts_) {
    counts_[0] = 0;
    for (std::int64_t d = 0; d < extent(FormulaAxis::distance); ++d)
      counts_[d + 1] = counts_[d] + (values_[program_->mask][d] != 0 ? 1 : 0);
  }
  View* next = views_;
  for (std::int64_t i = 0; i < sizes_.queries; i += strip_rows) {
    const std::int64_t rows = std::min(strip_rows, sizes_.queries - i);
    Mask::Range seen[strip_rows];
    for (std::int64_t r = 0; r < rows; ++r) seen[r] = ranges.range(0, i + r, sizes_.keys);
    for (std::int64_t j = 0; j < sizes_.keys; j += key_tile) {
      const Columns c = columns_of(seen, rows, j, sizes_.keys);
      *next++ = c.none() ? View{} : look_at(i, rows, j, c.c0, c.c1);
    }
  }
  looked_ = true;
}

bool ScoreFormula::seen_by_head() const {
  const Mask& mask = sizes_.mask;
  return program_->mask_by_head || program_->mask_by_entry || mask.lengths ||
         (mask.allowed && (!mask.allowed_shared || mask.allowed_heads > 1));
}

void ScoreFormula::count_seen(Real* y) const {
  for (std::int64_t i = 0; i < sizes_.queries; i += strip_rows) {
    const std::int64_t rows = std::min(strip_rows, sizes_.queries - i);
    Mask::Range seen[strip_rows];
    const std::uint8_t* allowed[strip_rows];
    for (std::int64_t r = 0; r < rows; ++r) {
      seen[r] = sizes_.mask.range(b_, i + r, sizes_.keys);
      allowed[r] = sizes_.mask.row(b_, h_, i + r, sizes_.queries, sizes_.keys);
      y[i + r] = masks() ? Real{0} : static_cast<Real>(Seen{seen[r], allowed[r]}.count());
    }
    if (!masks()) continue;
    for (std::int64_t j = 0; j < sizes_.keys; j += key_tile) {
      const Columns c = columns_of(seen, rows, j, sizes_.keys);
      if (c.none()) continue;
      const std::int64_t first = j + c.c0;
      const ScoreTile tile{b_, h_, i, rows, first, std::min(c.c1 - c.c0, sizes_.keys - first), key_tile};
      compute_pairs(tile, nullptr, &FormulaInstruction::for_mask);
      const Operand allows = operand(program_->mask, FormulaAxis::pair, tile, nullptr); // 1 where it allows a pair
      for (std::int64_t r = 0; r < rows; ++r) {
        const Mask::Range& range = seen[r];
        const auto sum = [&](std::int64_t from, std::int64_t to) {
          const std::int64_t begin = std::clamp<std::int64_t>(from - first, 0, tile.keys),
                             end = std::clamp(to - first, begin, tile.keys);
          return sum_over(end - begin, [&](std::int64_t k, int n) {
            const Simd all = allows(r, begin + k, n);
            return n == lanes || allows.each ? all : first_lanes(all, n);
          });
        };
        if (!allowed[r] && range.step == 1) {
          y[i + r] += sum(0, range.prefix) + sum(range.begin, range.end);
          continue;
        }
        const Seen keys{range, allowed[r]};
        for (std::int64_t k = 0; k < tile.keys; ++k)
          if (keys.counts(first + k) && allows.number(r, k) != 0) ++y[i + r];
      }
    }
  }
}

ScoreFormula::View ScoreFormula::look_at(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t c0,
                                         std::int64_t c1) const {
  View v{static_cast<std::uint8_t>(c1 / lanes), 0, true};
  const auto take = [&](std::int64_t c, bool any, bool all) {
    v.all = v.all && all;
    if (!any) return;
    v.c0 = std::min(v.c0, static_cast<std::uint8_t>(c / lanes));
    v.c1 = static_cast<std::uint8_t>(c / lanes + 1);
  };
  const std::int64_t end = std::min(c1, sizes_.keys - j);
  if (counts_) {
    // The distances of these rows and columns are exactly all integers from the lowest to the highest.
    for (std::int64_t c = c0; c < end; c += lanes) {
      const std::int64_t low = j + c - (i + rows - 1) + sizes_.queries - 1,
                         high = j + std::min(c + lanes, end) - 1 - i + sizes_.queries - 1;
      const std::int32_t seen = counts_[high + 1] - counts_[low];
      take(c, seen > 0, seen == high + 1 - low);
    }
  } else {
    const ScoreTile tile{b_, h_, i, rows, j + c0, end - c0, key_tile};
    compute_pairs(tile, nullptr, &FormulaInstruction::for_mask);
    const Operand seen = operand(program_->mask, FormulaAxis::pair, tile, nullptr);
    for (std::int64_t c = 0; c < tile.keys; c += lanes) {
      const int n = static_cast<int>(std::min<std::int64_t>(lanes, tile.keys - c));
      Simd most = unseen, least = seen_by_all;
      for (std::int64_t r = 0; r < rows; ++r) {
        const Simd x = seen(r, c, n);
        most = xsimd::max(most, x);
        least = xsimd::min(least, x);
      }
      alignas(64) Real all[lanes];
      least.store_aligned(all);
      take(c0 + c, largest_lane(most) != 0, std::all_of(all, all + n, [](Real x) { return x != 0; }));
    }
  }
  if (v.c1 == 0) return {};
  return v;
}

} // namespace heed::HEED_REAL
