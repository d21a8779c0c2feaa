// The operands of additive attention, with the matrices that project them, and the targets of their gradients.
#pragma once

#include "autograd/kernels/additive_scores.hpp"
#include "autograd/kernels/gemm.hpp"

namespace heed::HEED_REAL::pairwise {

// A gradient's rows as a matrix that a product can write or add to.
inline Matrix matrix_of(const GradRows& to, std::int64_t rows, std::int64_t columns) {
  return {to.p, rows, columns, to.row, to.column};
}
inline Matrix matrix_of(const Scattered& x, std::int64_t rows, std::int64_t columns) {
  return {const_cast<Real*>(x.p), rows, columns, x.row, x.column};
}

// An operand that is used unchanged, or projected by one matrix per head: [H, columns of x, D].
struct Projected {
  Tensor x, matrix; // without a matrix, the operand is x itself
  std::int64_t rows, width;

  Matrix of_head(std::int64_t h) const {
    return {matrix.data + h * matrix.stride[0], matrix.shape[1], width, matrix.stride[1], 1};
  }
  // Head `head` of x, projected by the matrix of query head h if there is one. `room` [rows, D] receives the
  // projection.
  Scattered head(std::int64_t b, std::int64_t head, std::int64_t h, Real* room) const {
    const Scattered own = head_of(x, x.data, b, head);
    if (!matrix.tape) return own;
    gemm(matrix_of(own, rows, x.shape[3]), of_head(h), row_major(room, rows, width));
    return {room, width, 1};
  }
  double operations() const {
    return matrix.tape ? 2.0 * static_cast<double>(x.shape[0] * matrix.shape[0] * rows * x.shape[3] * width) : 0;
  }
  // Backward pass of the projection: from the projection's gradient [rows, D], computes the gradient of x's head (into
  // `dx`) and of the matrix (into `dm`). The first sequence of the batch overwrites the matrix gradient if it must be
  // overwritten; all others add to it.
  void put(const Matrix& gradient, const GradRows& dx, const GradTarget& dm, std::int64_t b, std::int64_t head,
           std::int64_t h) const {
    if (dx.p) gemm(gradient, of_head(h).transposed(), matrix_of(dx, rows, x.shape[3]), 1, dx.overwrite ? 0 : 1);
    if (!dm) return;
    Matrix to = of_head(h);
    to.p = dm.p + h * matrix.stride[0];
    gemm(matrix_of(head_of(x, x.data, b, head), rows, x.shape[3]).transposed(), gradient, to, 1,
         dm.overwrite && b == 0 ? 0 : 1);
  }
};

// The operands of additive attention. Operands that products read have contiguous rows.
struct Operands {
  AdditiveForm form;
  Extents e;
  Projected queries, keys;
  std::int64_t k_row;

  Operands(const Op& op, const AdditiveForm& f, const Tensor& v)
      : form(f), e(attention_extents(op, f.queries, f.keys, v)) {
    const auto in_rows = [](const Tensor& x) { return x.stride[-1] == 1 ? x : contiguous(x); };
    const bool projects = f.matrices.query.tape;
    const Tensor &w = f.weights, &q = f.queries, &k = f.keys;
    op.check(w.rank() == 2, "w needs two axes, it has {}", w.rank());
    if (projects) {
      e.width = w.shape[1];
      const Tensor &wq = f.matrices.query, &wk = f.matrices.key;
      if (w.shape[0] != e.heads || !(wq.shape == Shape{e.heads, q.shape[3], e.width}) ||
          !(wk.shape == Shape{e.heads, k.shape[3], e.width}))
        op.fail(fmt::format("Wq, Wk and w must be [H, Dq, D], [H, Dk, D] and [H, D], for q {} and k {}: they are {}, "
                            "{} and {}",
                            q.shape.text(), k.shape.text(), wq.shape.text(), wk.shape.text(), w.shape.text()));
      form.queries = in_rows(q);
      form.keys = in_rows(k);
      form.matrices = {in_rows(wq), in_rows(wk)};
    } else {
      op.check(k.shape[3] == e.width, "q and k must have one width: q is {}, k is {}", q.shape.text(), k.shape.text());
      if (!(w.shape == Shape{e.heads, e.width}))
        op.fail(fmt::format("w must be [{}, {}], it is {}", e.heads, e.width, w.shape.text()));
    }
    form.weights = contiguous(w);
    queries = {form.queries, form.matrices.query, e.queries, e.width};
    keys = {form.keys, form.matrices.key, e.keys, e.width};
    k_row = padded_keys(e.keys);
  }
  bool projects() const { return form.matrices.query.tape; }
  bool requires_grad() const {
    bool any = false;
    for (const Tensor* t : {&form.queries, &form.keys, &form.weights, &form.matrices.query, &form.matrices.key})
      any = any || (t->tape && t->slot->requires_grad);
    return any;
  }
  double projections() const { return queries.operations() + keys.operations(); }
  const Real* weights(std::int64_t h) const { return form.weights.data + h * e.width; }
  // A score costs an addition, a tanh, a multiplication and an addition for each dimension.
  double operations(const Mask& mask) const {
    return seen_pairs(e, mask) * static_cast<double>(4 * e.width + 2 * e.value_width);
  }
};

// The gradient targets of one pass over all heads, and the code that writes one head's gradients to them. Making them
// counts the operations of the projections' gradients.
struct Gradients {
  GradTarget dq, dk, dw, dwq, dwk;
  bool by_columns; // dk is the gradient of packed keys
  bool at_once;    // the backward pass of a single query has already added to dk

  Gradients(Tape& tape, const Operands& x, const GradTarget& of_q, const GradTarget& of_k, bool packed = false,
            bool one_query = false)
      : dq(of_q), dk(of_k), dw(tape.grad_target(x.form.weights)),
        dwq(x.projects() ? tape.grad_target(x.form.matrices.query) : GradTarget{}),
        dwk(x.projects() ? tape.grad_target(x.form.matrices.key) : GradTarget{}), by_columns(packed),
        at_once(packed && one_query && of_k) {
    if (at_once && dk.overwrite && !counting_only())
      std::fill_n(dk.p, x.e.batch * x.e.key_heads * x.e.width * x.k_row, Real{0});
    const auto products = [](const GradTarget& of_x, const GradTarget& of_matrix) {
      return (of_x ? 1 : 0) + (of_matrix ? 1 : 0);
    };
    count_operations(products(dq, dwq) * x.queries.operations() + products(dk, dwk) * x.keys.operations());
  }

  // Where the key gradients of a head are added at once; null if `put` writes them at the end.
  Real* columns_of_one_query(const Operands& x, std::int64_t b, std::int64_t h) const {
    return at_once ? dk.p + (b * x.e.key_heads + h / x.e.sharing()) * x.e.width * x.k_row : nullptr;
  }

  // Scratch memory of `put`; null if it needs none.
  Real* room(Tape::Scratch& scratch, const Operands& x) const {
    return x.projects() || by_columns ? nullptr : scratch.take<Real>(x.e.keys * whole_vectors(x.e.width));
  }
  // Writes one head's gradients. dq_rows [Tq, D]; dk_rows: see `room`; `shared` is a term that is added to the gradient
  // of each weight of the head.
  void put(const Operands& x, const AdditiveGradients& a, const Real* dq_rows, Real* dk_rows, std::int64_t b,
           std::int64_t h, Real shared) const {
    const Extents& e = x.e;
    const std::int64_t width = whole_vectors(e.width);
    if (x.projects())
      x.queries.put(row_major(dq_rows, e.queries, e.width), head_of(x.form.queries, dq, b, h), dwq, b, h, h);
    else if (dq) put_rows(dq_rows, e.width, e.queries, e.width, 1, head_of(x.form.queries, dq, b, h));
    if (!at_once) a.finish_keys(e.keys);
    if (by_columns && !at_once) put_columns(a.dk_columns, e, x.k_row, b, h);
    const GradRows to = by_columns ? GradRows{} : key_head_of(x.form.keys, dk, e, b, h);
    if (x.projects()) x.keys.put({a.dk_columns, e.keys, e.width, 1, x.k_row}, to, dwk, b, h / e.sharing(), h);
    else if (dk && !by_columns) {
      pack_columns({a.dk_columns, x.k_row, 1}, e.width, e.keys, 1, dk_rows, width);
      put_rows(dk_rows, width, e.keys, e.width, 1, to);
    }
    if (dw)
      for (std::int64_t d = 0; d < e.width; ++d)
        accumulate(dw.p[h * e.width + d], shared - 2 * lane_sum(load(a.dw_lanes + d * lanes)), dw.overwrite && b == 0);
  }

private:
  void put_columns(const Real* columns, const Extents& e, std::int64_t k_row, std::int64_t b, std::int64_t h) const {
    if (!dk) return;
    Real* to = dk.p + (b * e.key_heads + h / e.sharing()) * e.width * k_row;
    const bool first = dk.overwrite && h % e.sharing() == 0;
    map(e.width * k_row, [&](std::int64_t at, int n) { accumulate(to + at, load(columns + at, n), first, n); });
  }
};

} // namespace heed::HEED_REAL::pairwise
