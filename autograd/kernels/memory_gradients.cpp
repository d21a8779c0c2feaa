#include "autograd/kernels/memory_gradients.hpp"

namespace heed::HEED_REAL {

namespace {

// The contributions of several calls to the gradient rows of one head's keys or values.
struct Added {
  const Real* of_keys; // [calls, Tk]
  const Real* rows;    // [calls, whole_vectors(width)]
  Real factor;
};

// acc + factor of_key row. Each product is rounded, as it is when put_rows adds stored products. Adding zero to a
// product keeps the compiler from fusing the product with the sum that follows.
inline Simd with(const Simd& acc, const Simd& of_key, const Real* row, Real factor) {
  const Simd nothing(Real{0});
  return acc + xsimd::fma(xsimd::fma(of_key, Simd::load_aligned(row), nothing), Simd(factor), nothing);
}

// Adds the contributions of `Sides` sides to the gradient row j at `to`, one call after the other.
template <int Sides>
void add_to_row(const Added* sides, std::int64_t calls, std::int64_t keys, std::int64_t j, std::int64_t width,
                Real* to) {
  constexpr int together = 4; // vectors
  const std::int64_t padded = whole_vectors(width);
  std::int64_t d = 0;
  for (; d + together * lanes <= width; d += together * lanes) {
    Simd acc[together];
    for (int v = 0; v < together; ++v) acc[v] = load(to + d + v * lanes);
    for (std::int64_t c = 0; c < calls; ++c)
      for (int s = 0; s < Sides; ++s) {
        const Simd of_key(sides[s].of_keys[c * keys + j]);
        for (int v = 0; v < together; ++v)
          acc[v] = with(acc[v], of_key, sides[s].rows + c * padded + d + v * lanes, sides[s].factor);
      }
    for (int v = 0; v < together; ++v) store(to + d + v * lanes, acc[v]);
  }
  map(width - d, [&](std::int64_t i, int n) {
    Simd acc = load(to + d + i, n);
    for (std::int64_t c = 0; c < calls; ++c)
      for (int s = 0; s < Sides; ++s)
        acc = with(acc, Simd(sides[s].of_keys[c * keys + j]), sides[s].rows + c * padded + d + i, sides[s].factor);
    store(to + d + i, acc, n);
  });
}

template <int Sides>
void add_to_rows(const Added* sides, std::int64_t calls, std::int64_t keys, std::int64_t first, std::int64_t last,
                 std::int64_t width, const GradRows& to) {
  for (std::int64_t j = first; j < last; ++j) {
    Real* row = to.p + j * to.row;
    if (to.column == 1) {
      add_to_row<Sides>(sides, calls, keys, j, width, row);
      continue;
    }
    for (std::int64_t d = 0; d < width; d += lanes) { // gather `lanes` elements at a time into one vector
      alignas(64) Real some[lanes];
      const std::int64_t n = std::min<std::int64_t>(lanes, width - d);
      for (std::int64_t i = 0; i < n; ++i) some[i] = row[(d + i) * to.column];
      Simd acc = load(some, static_cast<int>(n));
      for (std::int64_t c = 0; c < calls; ++c)
        for (int s = 0; s < Sides; ++s)
          acc = with(acc, Simd(sides[s].of_keys[c * keys + j]), sides[s].rows + c * whole_vectors(width) + d,
                     sides[s].factor);
      acc.store_aligned(some);
      for (std::int64_t i = 0; i < n; ++i) row[(d + i) * to.column] = some[i];
    }
  }
}

} // namespace

MemoryGradients* MemoryGradients::make(const Tensor& keys, const Tensor& values, Real factor, std::int64_t heads) {
  const Op op("memory_gradients", {keys.tape ? &keys : &values, &values});
  if (!op.requires_grad()) return nullptr;
  Tape& tape = op.tape();
  auto* m = new (tape.keep<MemoryGradients>(1)) MemoryGradients{};
  m->node_ = op.output({1});
  m->node_.data[0] = 0; // anomaly detection reads it
  m->keys_ = keys;
  m->values_ = values;
  m->sharing_ = heads / values.shape[1];
  const auto side = [&](const Tensor& x, Real factor) -> Side {
    if (!x.tape) return {};
    const std::int64_t rows = x.shape[0] * x.shape[1] * room * m->sharing_, width = x.shape[3];
    return {width, factor, tape.keep<Real>(rows * x.shape[2]), tape.keep<Real>(rows * whole_vectors(width))};
  };
  m->key_side_ = side(keys, factor);
  m->value_side_ = side(values, 1);
  op.record(m->node_, [=] { m->add(); });
  return m;
}

MemoryGradients* MemoryGradients::for_call(const PackedMemory* memory, std::int64_t queries) {
  MemoryGradients* m = memory ? memory->gradients : nullptr;
  if (!m) return nullptr;
  if (queries != 1 || m->gathered_ == room) m->add();
  if (queries != 1) return nullptr;
  *m->node_.tape->grad_target(m->node_).p = 0;
  if (m->gathered_ == 0) {
    m->first_ = m->values_.shape[2];
    m->last_ = 0;
  }
  return m;
}

MemoryGradients::Share MemoryGradients::share(const HeadProblem& head, const Real* query, const Real* upstream) {
  const Extents& e = head.e;
  const std::int64_t row = ((head.b * e.key_heads + head.h / sharing_) * room + gathered_) * sharing_ +
                           head.h % sharing_;
  const auto begin = [&](const Side& side, const Real* vector) -> Real* {
    if (!side.rows) return nullptr;
    const std::int64_t padded = whole_vectors(side.width);
    Real *to = side.rows + row * padded, *of_keys = side.of_keys + row * e.keys;
    std::copy_n(vector, side.width, to);
    std::fill(to + side.width, to + padded, Real{0});
    std::fill_n(of_keys, e.keys, Real{0});
    return of_keys;
  };
  const Mask::Range seen = head.seen(0);
  if (seen.begin < seen.end) {
    first_ = std::min(first_, seen.first());
    last_ = std::max(last_, seen.end);
  }
  return {begin(key_side_, query), begin(value_side_, upstream)};
}

void MemoryGradients::add() {
  if (gathered_ == 0) return;
  const auto [dk, dv, same] = values_.tape->grad_targets({keys_.tape ? keys_ : values_, values_, values_});
  const std::int64_t heads = values_.shape[1], keys = values_.shape[2], calls = gathered_ * sharing_;
  for (std::int64_t b = 0, some = counting_only() ? 0 : values_.shape[0]; b < some; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto added = [&](const Side& side) -> Added {
        const std::int64_t row = (b * heads + h) * room * sharing_;
        return {side.of_keys + row * keys, side.rows + row * whole_vectors(side.width), side.factor};
      };
      const GradRows to_keys = keys_.tape ? head_of(keys_, dk, b, h) : GradRows{},
                     to_values = head_of(values_, dv, b, h);
      const Added both[] = {keys_.tape ? added(key_side_) : Added{}, added(value_side_)};
      if (to_keys.p && to_keys.p == to_values.p && to_keys.row == to_values.row && to_keys.column == to_values.column) {
        add_to_rows<2>(both, calls, keys, first_, last_, key_side_.width, to_values);
        continue;
      }
      if (to_keys.p) add_to_rows<1>(both, calls, keys, first_, last_, key_side_.width, to_keys);
      if (to_values.p) add_to_rows<1>(both + 1, calls, keys, first_, last_, value_side_.width, to_values);
    }
  gathered_ = 0;
}

} // namespace heed::HEED_REAL
