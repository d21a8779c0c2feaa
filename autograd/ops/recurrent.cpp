#include "autograd/recurrent.hpp"

#include "autograd/kernels/activations.hpp"
#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/packed_product.hpp"
#include "autograd/kernels/simd.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

// The forward pass of one row at one step. A cell stores `kept` vectors of H values for its backward pass.
struct RowForward {
  const Real *x, *product;  // [gates H]: the projected input, and W h
  const Real *h, *c, *bias; // [H]: hidden state and cell state before the step, and the bias
  Real *kept, *next_h, *next_c;
};
struct RowBackward {
  const Real *kept, *h, *c; // the same as in the forward pass
  const Real* dh;           // gradient with respect to the hidden state after the step
  Real* dc;                 // gradient of the cell state: after the step on entry, before the step on return
  Real* dx;                 // [gates H], written
  Real* dproduct;           // [gates H]: gradient of W h, written only with `own_product`; otherwise it is dx
  Real* passed;             // [H], written: gradient of the hidden state before the step, without the part by W h
};

struct Elman {
  static constexpr int gates = 1, kept = 0;
  static constexpr bool own_product = false, has_memory = false;

  static void forward(const RowForward& s, std::int64_t width) {
    map(width,
        [&](std::int64_t i, int n) { store(s.next_h + i, tanh_of(load(s.x + i, n) + load(s.product + i, n)), n); });
  }
  // `after` is the hidden state after the step, which is the output of tanh.
  static void backward(const RowBackward& s, const Real* after, std::int64_t width) {
    map(width, [&](std::int64_t i, int n) {
      const Simd y = load(after + i, n);
      store(s.dx + i, load(s.dh + i, n) * (Real{1} - y * y), n);
      store(s.passed + i, Simd(Real{0}), n);
    });
  }
};

struct Gru {
  static constexpr int gates = 3, kept = 4; // r, z, n, W_n h + b
  static constexpr bool own_product = true, has_memory = false;

  static void forward(const RowForward& s, std::int64_t width) {
    const Real *x = s.x, *p = s.product;
    Real* kept = s.kept;
    map(width, [&](std::int64_t i, int m) {
      const Simd r = logistic(load(x + i, m) + load(p + i, m));
      const Simd z = logistic(load(x + width + i, m) + load(p + width + i, m));
      const Simd seen = load(p + 2 * width + i, m) + load(s.bias + i, m);
      const Simd n = tanh_of(load(x + 2 * width + i, m) + r * seen);
      store(s.next_h + i, n + z * (load(s.h + i, m) - n), m);
      store(kept + i, r, m);
      store(kept + width + i, z, m);
      store(kept + 2 * width + i, n, m);
      store(kept + 3 * width + i, seen, m);
    });
  }
  static void backward(const RowBackward& s, const Real*, std::int64_t width) {
    map(width, [&](std::int64_t i, int m) {
      const Simd r = load(s.kept + i, m), z = load(s.kept + width + i, m), n = load(s.kept + 2 * width + i, m);
      const Simd seen = load(s.kept + 3 * width + i, m), d = load(s.dh + i, m);
      const Simd dn = d * (Real{1} - z) * (Real{1} - n * n);
      const Simd dr = dn * seen * r * (Real{1} - r), dz = d * (load(s.h + i, m) - n) * z * (Real{1} - z);
      store(s.dx + i, dr, m);
      store(s.dx + width + i, dz, m);
      store(s.dx + 2 * width + i, dn, m);
      store(s.dproduct + i, dr, m);
      store(s.dproduct + width + i, dz, m);
      store(s.dproduct + 2 * width + i, dn * r, m);
      store(s.passed + i, d * z, m);
    });
  }
};

struct Lstm {
  static constexpr int gates = 4, kept = 5; // i, f, g, o, tanh(c')
  static constexpr bool own_product = false, has_memory = true;

  static void forward(const RowForward& s, std::int64_t width) {
    Real* kept = s.kept;
    map(width, [&](std::int64_t j, int n) {
      const auto sum = [&](int gate) {
        return load(s.x + gate * width + j, n) + load(s.product + gate * width + j, n);
      };
      const Simd i = logistic(sum(0)), f = logistic(sum(1)), g = tanh_of(sum(2)), o = logistic(sum(3));
      const Simd c = f * load(s.c + j, n) + i * g, t = tanh_of(c);
      store(s.next_c + j, c, n);
      store(s.next_h + j, o * t, n);
      store(kept + j, i, n);
      store(kept + width + j, f, n);
      store(kept + 2 * width + j, g, n);
      store(kept + 3 * width + j, o, n);
      store(kept + 4 * width + j, t, n);
    });
  }
  static void backward(const RowBackward& s, const Real*, std::int64_t width) {
    map(width, [&](std::int64_t j, int n) {
      const auto kept = [&](int k) { return load(s.kept + k * width + j, n); };
      const Simd i = kept(0), f = kept(1), g = kept(2), o = kept(3), t = kept(4), d = load(s.dh + j, n);
      const Simd dc = load(s.dc + j, n) + d * o * (Real{1} - t * t);
      store(s.dx + j, dc * g * i * (Real{1} - i), n);
      store(s.dx + width + j, dc * load(s.c + j, n) * f * (Real{1} - f), n);
      store(s.dx + 2 * width + j, dc * i * (Real{1} - g * g), n);
      store(s.dx + 3 * width + j, d * t * o * (Real{1} - o), n);
      store(s.dc + j, dc * f, n);
      store(s.passed + j, Simd(Real{0}), n);
    });
  }
};

// The order of the steps: step number s processes time t = at(s).
struct Order {
  std::int64_t steps;
  bool reverse;
  std::int64_t at(std::int64_t s) const { return reverse ? steps - 1 - s : s; }
};

void check_shape(const Op& op, const char* name, const Tensor& x, const Shape& shape) {
  if (!(x.shape == shape)) op.fail(fmt::format("{} must be {}, it is {}", name, shape.text(), x.shape.text()));
}

// The weight as the right operand of each step's product. It is packed once for all steps, either here or by a
// PackedWeightCache (if the caller runs single steps). For one step without a PackedWeightCache it is not packed.
struct Right {
  Matrix matrix;
  PackedMatrix packed;
};
void product(const Matrix& a, const Right& b, const Matrix& c, bool add) {
  if (b.packed.p) gemm(a, b.packed, c, add ? 1 : 0);
  else gemm(a, b.matrix, c, 1, add ? 1 : 0);
}
Right right(const Matrix& m, bool packs, Tape& tape) {
  return {m, packs ? pack_matrix(m, tape.keep<Real>(packed_size(m.rows, m.columns))) : PackedMatrix{}};
}

// Runs all steps of a cell. Only the LSTM has a `memory` (cell state) and only the GRU has `biases`; other cells pass
// any tensor.
template <class Cell>
Recurrence recur(const Op& op, const Tensor& input, const Tensor& state, const Tensor& memory, const Tensor& weight,
                 const Tensor& biases, const RecurrentSteps& given) {
  constexpr int G = Cell::gates;
  op.check(input.rank() == 3 && state.rank() == 2,
           "x must be [T, B, {} H] and the state [B, H], they have {} and {} axes", G, input.rank(), state.rank());
  const std::int64_t T = input.shape[0], B = input.shape[1], H = state.shape[1], all = G * H;
  op.check(T > 0, "x has no step");
  check_shape(op, "x", input, {T, B, all});
  check_shape(op, "the state", state, {B, H});
  check_shape(op, "w", weight, {all, H});
  if (Cell::has_memory) check_shape(op, "the memory", memory, {B, H});
  if (Cell::own_product) check_shape(op, "the bias", biases, {H});
  const Tensor x = contiguous(input), h0 = contiguous(state), w = contiguous(weight);
  const Tensor c0 = Cell::has_memory ? contiguous(memory) : h0, bias = Cell::own_product ? contiguous(biases) : h0;

  Tape& tape = op.tape();
  const bool keeps = op.requires_grad();
  const Order order{T, given.reverse};
  const std::int64_t first = given.first, step = B * H;
  const std::int32_t* lengths = given.lengths ? tape.keep_copy(given.lengths, B) : nullptr;
  const auto rests = [=](std::int64_t t, std::int64_t b) { return lengths && first + t >= lengths[b]; };
  // The hidden states of all steps, followed by the last cell state.
  const Tensor y = op.output({Cell::has_memory ? T + 1 : T, B, H});
  Real* kept = tape.keep<Real>((keeps ? T : 1) * Cell::kept * step);
  Real* memories = Cell::has_memory ? tape.keep<Real>(T * step) : nullptr;
  const auto kept_at = [=](std::int64_t t) { return kept + (keeps ? t : 0) * Cell::kept * step; };
  const auto before = [=](std::int64_t s) { return s == 0 ? h0.data : y.data + order.at(s - 1) * step; };
  // A cell without a cell state returns its hidden state, so that pointers stay within an array.
  const auto memory_before = [=](std::int64_t s) -> const Real* {
    return s == 0 ? c0.data : Cell::has_memory ? memories + order.at(s - 1) * step : before(s);
  };

  PackedWeight* ready = T == 1 ? packed_weight(w, B) : nullptr;
  const PackedMatrix* packed = ready ? &ready->forwards : frozen_weight(w);
  const Matrix whole = row_major(w.data, all, H);
  const Right forwards = packed ? Right{whole.transposed(), *packed} : right(whole.transposed(), T > 1, tape);
  Real* products = tape.keep<Real>(B * all);
  for (std::int64_t s = 0; s < T; ++s) {
    const std::int64_t t = order.at(s);
    const Real *h = before(s), *c = memory_before(s);
    Real *next_h = y.data + t * step, *next_c = Cell::has_memory ? memories + t * step : next_h;
    product(row_major(h, B, H), forwards, row_major(products, B, all), false);
    for (std::int64_t b = 0; b < B; ++b) {
      const std::int64_t at = b * H;
      if (rests(t, b)) {
        std::copy_n(h + at, H, next_h + at);
        if (Cell::has_memory) std::copy_n(c + at, H, next_c + at);
        continue;
      }
      Cell::forward({x.data + (t * B + b) * all, products + b * all, h + at, c + at, bias.data,
                     kept_at(t) + b * Cell::kept * H, next_h + at, next_c + at},
                    H);
    }
  }
  if (Cell::has_memory) std::copy_n(memories + order.at(T - 1) * step, step, y.data + T * step);

  op.record(y, [=] {
    Tape& tape = *y.tape;
    const Real* dy = tape.grad(y);
    // The products also read dx. It may be computed directly in x's gradient, unless another operand's gradient may use
    // the same memory.
    const bool alone = x.slot != h0.slot && x.slot != w.slot && x.slot != c0.slot && x.slot != bias.slot;
    const GradTarget into_x = tape.grad_target(x);
    const bool in_place = alone && into_x && into_x.overwrite;
    Real* dx = in_place ? into_x.p : tape.keep<Real>(T * B * all);
    Real* gathered = ready ? ready->gather(row_major(h0.data, B, H)) : nullptr;
    // Gradient with respect to the products W h: [T, B, all].
    Real* grad_gates = !Cell::own_product ? dx : gathered ? gathered : tape.keep<Real>(T * B * all);
    Real* dh = tape.keep<Real>(step);
    Real* passed = tape.keep<Real>(step);
    Real* dc = tape.keep<Real>(step);
    std::fill_n(passed, step, Real{0});
    if (Cell::has_memory) std::copy_n(dy + T * step, step, dc);
    const Right backwards = ready ? Right{whole, ready->backwards} : right(whole, T > 1, tape);

    for (std::int64_t s = T - 1; s >= 0; --s) {
      const std::int64_t t = order.at(s);
      const Real *h = before(s), *c = memory_before(s);
      for (std::int64_t b = 0; b < B; ++b) {
        const std::int64_t at = b * H, place = (t * B + b) * all;
        Real* d = dh + at;
        map(H, [&](std::int64_t i, int n) {
          store(d + i, load(passed + at + i, n) + load(dy + t * step + at + i, n), n);
        });
        if (rests(t, b)) {
          std::fill_n(dx + place, all, Real{0});
          if (Cell::own_product) std::fill_n(grad_gates + place, all, Real{0});
          std::copy_n(d, H, passed + at);
          continue;
        }
        Cell::backward({kept_at(t) + b * Cell::kept * H, h + at, c + at, d, dc + at, dx + place, grad_gates + place,
                        passed + at},
                       y.data + t * step + at, H);
      }
      if (s == 0 && !h0.slot->requires_grad) break;
      product(row_major(grad_gates + t * B * all, B, all), backwards, row_major(passed, B, H), true);
    }

    if (into_x && !in_place)
      map(T * B * all, [&](std::int64_t i, int n) { accumulate(into_x.p + i, load(dx + i, n), into_x.overwrite, n); });
    if (ready) {
      if (gathered && !Cell::own_product) std::copy_n(dx, B * all, gathered);
    } else if (const GradTarget d = tape.grad_target(w)) {
      // The states before all steps except the first are contiguous in y. The state before the first step is h0.
      const auto add_steps = [&](std::int64_t t, std::int64_t steps, const Real* h, bool store) {
        gemm(row_major(grad_gates + t * B * all, steps * B, all).transposed(), row_major(h, steps * B, H),
             row_major(d.p, all, H), 1, store ? 0 : 1);
      };
      add_steps(order.at(0), 1, h0.data, d.overwrite);
      if (T > 1) add_steps(order.reverse ? 0 : 1, T - 1, y.data + (order.reverse ? step : 0), false);
    }
    if (Cell::own_product)
      if (const GradTarget d = tape.grad_target(bias)) {
        if (d.overwrite) std::fill_n(d.p, H, Real{0});
        for (std::int64_t row = 0; row < T * B; ++row)
          map(H, [&](std::int64_t i, int n) {
            store(d.p + i, load(d.p + i, n) + load(grad_gates + row * all + (all - H) + i, n), n);
          });
      }
    if (const GradTarget d = tape.grad_target(h0))
      for (std::int64_t b = 0; b < B; ++b)
        map(H,
            [&](std::int64_t i, int n) { accumulate(d.p + b * H + i, load(passed + b * H + i, n), d.overwrite, n); });
    if (Cell::has_memory)
      if (const GradTarget d = tape.grad_target(c0))
        map(step, [&](std::int64_t i, int n) { accumulate(d.p + i, load(dc + i, n), d.overwrite, n); });
  });

  const auto plane = [&](std::int64_t t) { return reshape(slice(y, 0, t, 1), {B, H}); };
  return {Cell::has_memory ? slice(y, 0, 0, T) : y, plane(order.at(T - 1)), Cell::has_memory ? plane(T) : Tensor{}};
}

} // namespace

Recurrence elman(const Tensor& x, const Tensor& h, const Tensor& w, const RecurrentSteps& steps) {
  return recur<Elman>(Op("elman", {&x, &h, &w}, Counts::yes), x, h, h, w, h, steps);
}

Recurrence gru(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& bias, const RecurrentSteps& steps) {
  return recur<Gru>(Op("gru", {&x, &h, &w, &bias}, Counts::yes), x, h, h, w, bias, steps);
}

Recurrence lstm(const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& w, const RecurrentSteps& steps) {
  return recur<Lstm>(Op("lstm", {&x, &h, &c, &w}, Counts::yes), x, h, c, w, h, steps);
}

} // namespace heed::HEED_REAL
