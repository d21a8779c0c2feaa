#include "experiments/operators/lost_keys.hpp"

#include <algorithm>
#include <limits>

namespace heed::HEED_REAL {

namespace {

// The mask has all but the formula.
LayerChoice even_choice(const LayerChoice& choice) {
  LayerChoice out;
  out.attention.score = "dot";
  out.attention.normalizer = "softmax";
  out.attention.mask_mod = choice.attention.mask_mod;
  if (!out.attention.mask_mod.empty()) out.attention.parameters = choice.attention.parameters;
  return out;
}

// n numbers at p, `step` apart.
bool all_finite(const Real* p, std::int64_t n, std::int64_t step) {
  Real zero = 0;
  for (std::int64_t i = 0; i < n; ++i) zero += p[i * step] * 0; // infinity * 0 is NaN
  return zero == 0;
}

constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();

} // namespace

LostKeys::LostKeys(const LayerChoice& choice, std::int64_t heads, std::int64_t longest)
    : heads_(heads), even_(Scope(none_, Init::zeros()), even_choice(choice), ScoreSizes{heads, 1, 1, longest}) {}

LostKeys::Found LostKeys::in(const Tensor& x) {
  const bool by_head = x.rank() == 4;
  const std::int64_t heads = by_head ? x.shape[1] : 1, width = x.shape[-1];
  Found out{x.shape[0], x.shape[-2], {}};
  for (std::int64_t b = 0; b < out.batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t t = 0; t < out.positions; ++t) {
        const Real* row = x.data + b * x.stride[0] + (by_head ? h * x.stride[1] : 0) + t * x.stride[-2];
        if (all_finite(row, width, x.stride[-1])) continue;
        out.lost.resize(static_cast<std::size_t>(out.batch * out.positions));
        out.lost[static_cast<std::size_t>(b * out.positions + t)] = 1;
      }
  return out;
}

void LostKeys::Found::add(const Found& other) {
  if (!other.any()) return;
  lost.resize(other.lost.size());
  std::ranges::transform(lost, other.lost, lost.begin(), [](int a, int b) { return static_cast<std::uint8_t>(a | b); });
}

void LostKeys::Found::spread(std::int64_t earlier) {
  if (!any() || earlier == 0) return;
  for (std::int64_t b = 0; b < batch; ++b) {
    std::uint8_t* const of = lost.data() + b * positions;
    for (std::int64_t t = 0, clear = 0; t < positions; ++t) // `clear`: the first position that none reaches
      if (of[t]) clear = t + earlier + 1;
      else of[t] = t < clear;
  }
}

Tensor LostKeys::for_queries(Tape& tape, const Found& keys, std::int64_t queries, const Mask& mask) const {
  const Tensor lost = tape.zeros({keys.batch, 1, keys.positions, 1});
  std::ranges::copy(keys.lost, lost.data);
  Pass pass(tape, none_, nullptr, {});
  const Tensor weights = even_(pass, {.queries = tape.zeros({keys.batch, heads_, queries, 1}),
                                      .values = lost,
                                      .keys = tape.zeros({keys.batch, 1, keys.positions, 1}),
                                      .mask = mask});
  const Tensor out = tape.zeros({keys.batch, heads_, queries, 1});
  const Tensor read = contiguous(weights);
  std::transform(read.data, read.data + read.size(), out.data, [](Real w) { return w > 0 ? nan : Real{0}; });
  return out;
}

Tensor LostKeys::for_tokens(Tape& tape, const Found& own, const Found& keys, std::int64_t queries,
                            const Mask& mask) const {
  const Tensor out = tape.zeros({keys.batch, queries, 1});
  if (own.any()) std::ranges::transform(own.lost, out.data, [](std::uint8_t lost) { return lost ? nan : Real{0}; });
  if (!keys.any()) return out;
  const Tensor by_head = for_queries(tape, keys, queries, mask);
  for (std::int64_t b = 0; b < keys.batch; ++b)
    for (std::int64_t h = 0; h < heads_; ++h)
      for (std::int64_t i = 0; i < queries; ++i)
        out.data[b * queries + i] += by_head.data[(b * heads_ + h) * queries + i];
  return out;
}

} // namespace heed::HEED_REAL
