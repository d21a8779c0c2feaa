// Formulas for attention that stores all scores: the formula applied to a tensor of scores, and its mask as an array.
#include "autograd/kernels/heads.hpp"
#include "autograd/ops.hpp"
#include "autograd/score_formula.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

template <class F> void each_score_tile(const Shape& x, std::int64_t b, std::int64_t h, F&& f) {
  for (std::int64_t i = 0; i < x[2]; i += strip_rows)
    for (std::int64_t j = 0; j < x[3]; j += key_tile)
      f(ScoreTile{b, h, i, std::min(strip_rows, x[2] - i), j, std::min(key_tile, x[3] - j), x[3]},
        ((b * x[1] + h) * x[2] + i) * x[3] + j);
}

} // namespace

Tensor apply_formula(const Tensor& scores, ScoreFormula* formula) {
  if (!formula || !formula->changes_scores()) return scores;
  Op op("apply_formula", {&scores});
  op.require_grad(formula->requires_grad());
  op.check(scores.rank() == 4, "scores must be [B, H, Tq, Tk], they are {}", scores.shape.text());
  const Tensor x = contiguous(scores), y = op.output(x.shape);
  std::copy_n(x.data, x.size(), y.data);
  const auto each_head = [=](auto&& f) {
    for (std::int64_t b = 0; b < x.shape[0]; ++b)
      for (std::int64_t h = 0; h < x.shape[1]; ++h) {
        formula->begin_head(b, h);
        each_score_tile(x.shape, b, h, f);
        formula->end_head();
      }
  };
  {
    Tape::Scratch scratch(op.tape());
    formula->begin(op.tape(), scratch, false);
    each_head([&](const ScoreTile& tile, std::int64_t at) { formula->apply(tile, y.data + at); });
  }
  op.record(y, [=] {
    Tape& tape = *y.tape;
    Tape::Scratch scratch(tape);
    formula->begin(tape, scratch, true);
    Real* grad_scores = scratch.take<Real>(x.size());
    std::copy_n(tape.grad(y), x.size(), grad_scores);
    each_head([&](const ScoreTile& tile, std::int64_t at) { formula->pull(tile, x.data + at, grad_scores + at); });
    if (const GradTarget dx = tape.grad_target(x))
      map(x.size(), [&](std::int64_t at, int n) { accumulate(dx.p + at, load(grad_scores + at, n), dx.overwrite, n); });
  });
  return y;
}

Mask with_formula(Tape& tape, const Mask& mask, ScoreFormula* formula, const FormulaSizes& sizes) {
  if (!formula || !formula->masks()) return mask;
  const Shape all{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  auto* allowed = tape.keep<std::uint8_t>(all.size());
  Tape::Scratch scratch(tape);
  formula->begin(tape, scratch, false);
  for (std::int64_t b = 0; b < sizes.batch; ++b)
    for (std::int64_t h = 0; h < sizes.heads; ++h) {
      formula->begin_head(b, h);
      for (std::int64_t i = 0; i < sizes.queries; ++i) {
        std::uint8_t* to = allowed + ((b * sizes.heads + h) * sizes.queries + i) * sizes.keys;
        if (const std::uint8_t* from = mask.row(b, h, i, sizes.queries, sizes.keys)) std::copy_n(from, sizes.keys, to);
        else std::fill_n(to, sizes.keys, std::uint8_t{1});
      }
      each_score_tile(all, b, h, [&](const ScoreTile& tile, std::int64_t at) { formula->hide(tile, allowed + at); });
    }
  Mask out = mask;
  out.allowed = allowed;
  out.allowed_shared = false;
  out.allowed_heads = sizes.heads;
  out.allowed_row = 0;
  out.allowed_matrix = 0;
  return out;
}

} // namespace heed::HEED_REAL
