#include "autograd/normalize.hpp"
#include "layers/attention/algorithm.hpp"
#include "layers/quotient.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// The weights are s_ij / sum_k s_ik with s_ij = f_i . g_j, where f and g are features of queries and keys. A query's
// result is therefore f_i S / (f_i z), where S sums g_j v_j^T and z sums g_j over the keys that the query sees. No
// value is stored per pair. The values get an additional column of ones, so that the same sums give z.

// The number of queries in a chunk. Pairs within a chunk are computed directly; earlier keys enter through the sums.
constexpr std::int64_t longest_chunk = 64;

// The inputs for each query head; batch and heads are one axis, B H.
struct Parts {
  Tensor queries, keys; // features [B H, T, D]; 0 for masked keys
  Tensor values;        // [B H, T, Dv + 1]
};

Tensor filled(Tape& tape, const Shape& shape, Real number) {
  const Tensor y = tape.make(shape);
  std::fill_n(y.data, y.size(), number);
  return y;
}

Tensor heads_as_rows(const Tensor& x) { return reshape(x, {x.shape[0] * x.shape[1], x.shape[2], x.shape[3]}); }

Parts parts_of(const AttentionProblem& x, std::int64_t first_key) {
  const auto& form = std::get<DotProductForm>(x.form);
  const std::int64_t sequences = x.queries.shape[0], heads = x.queries.shape[1], count = x.values.shape[2];
  Tape& tape = *form.queries.tape;
  Tensor keys = repeat_heads(form.keys, heads);
  if (x.mask.lengths) {
    const Tensor seen = filled(tape, {sequences, 1, count, 1}, 1);
    for (std::int64_t b = 0; b < sequences; ++b)
      for (std::int64_t j = std::max<std::int64_t>(x.mask.lengths[b] - first_key, 0); j < count; ++j)
        seen.data[b * count + j] = 0;
    keys = mul(keys, seen);
  }
  const Tensor values = repeat_heads(x.values, heads);
  return {heads_as_rows(form.queries), heads_as_rows(keys),
          heads_as_rows(concat({values, filled(tape, {sequences, heads, count, 1}, 1)}, -1))};
}

// Sums [B H, Tq, Dv + 1] to results [B, H, Tq, Dv]. A query that sees no key, or whose features are 0, gets 0.
Tensor divided_by_weights(const Tensor& sums, std::int64_t sequences) {
  const std::int64_t width = sums.shape[2] - 1;
  const Tensor y = quotient(slice(sums, 2, 0, width), slice(sums, 2, width, 1));
  return reshape(y, {sequences, sums.shape[0] / sequences, sums.shape[1], width});
}

// Causal sums: each query sees itself and earlier keys. `before`, if not null, has the sums of the keys before the
// first, [B H, D, Dv + 1].
Tensor causal_sums(const Parts& x, const Tensor* before) {
  const std::int64_t rows = x.queries.shape[0], count = x.queries.shape[1];
  const std::int64_t chunk = std::min(count, longest_chunk), chunks = (count + chunk - 1) / chunk;
  Tape& tape = *x.queries.tape;
  const auto chunked = [&](const Tensor& t) {
    const std::int64_t missing = chunks * chunk - count;
    const Tensor full = missing ? concat({t, tape.zeros({rows, missing, t.shape[2]})}, 1) : t;
    return reshape(full, {rows, chunks, chunk, t.shape[2]});
  };
  const Tensor q = chunked(x.queries), k = chunked(x.keys), v = chunked(x.values);
  const Tensor lower = tape.zeros({chunk, chunk});
  for (std::int64_t i = 0; i < chunk; ++i) std::fill_n(lower.data + i * chunk, i + 1, Real{1});
  Tensor y = matmul(mul(matmul(q, transpose(k)), lower), v);
  if (chunks > 1) y = add(y, matmul(q, sum_before(matmul(transpose(k), v), 1)));
  if (before) y = add(y, matmul(q, unsqueeze(*before, 1)));
  return slice(reshape(y, {rows, chunks * chunk, y.shape[3]}), 1, 0, count);
}

Tensor sums_of_all(const Parts& x) { return matmul(transpose(x.keys), x.values); }

class LinearState : public MixerState {
public:
  std::int64_t length() const override { return length_; }
  void select(std::span<const std::int64_t> parents) override {
    const auto each = static_cast<std::int64_t>(sums_.size()) / sequences_;
    std::vector<Real> chosen;
    for (const std::int64_t p : parents)
      chosen.insert(chosen.end(), sums_.begin() + p * each, sums_.begin() + (p + 1) * each);
    sums_ = std::move(chosen);
    sequences_ = static_cast<std::int64_t>(parents.size());
  }
  std::int64_t numbers(std::int64_t) const override { return std::ssize(sums_) / sequences_; }

  Tensor step(const AttentionProblem& x) {
    const Parts parts = parts_of(x, length_);
    Tape& tape = *parts.queries.tape;
    Tensor all = sums_of_all(parts), before;
    if (length_ > 0) {
      before = tape.make(all.shape);
      std::copy(sums_.begin(), sums_.end(), before.data);
      all = add(before, all);
    }
    sequences_ = x.queries.shape[0];
    length_ += x.values.shape[2];
    sums_.assign(all.data, all.data + all.size());
    const Tensor sums = x.mask.causal ? causal_sums(parts, before.tape ? &before : nullptr)
                                      : matmul(parts.queries, all);
    return divided_by_weights(sums, sequences_);
  }

private:
  std::int64_t sequences_ = 0, length_ = 0;
  std::vector<Real> sums_; // [B H, D, Dv + 1]
};

// The attention weights for observers, without a gradient: [B, H, Tq, Tk].
Tensor weights_of(const AttentionProblem& x, const Parts& parts) {
  const std::int64_t rows = parts.queries.shape[0], queries = parts.queries.shape[1], keys = parts.keys.shape[1];
  const std::int64_t width = parts.keys.shape[2], heads = x.queries.shape[1];
  const Tensor q = contiguous(parts.queries), k = contiguous(parts.keys);
  const Tensor weights = q.tape->zeros({rows / heads, heads, queries, keys});
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < queries; ++i) {
      Real* w = weights.data + (row * queries + i) * keys;
      Real total = 0;
      const std::int64_t seen = x.mask.causal ? i + 1 : keys;
      for (std::int64_t j = 0; j < seen; ++j)
        total += w[j] = row_dot(q.data + (row * queries + i) * width, k.data + (row * keys + j) * width, width);
      if (total > 0)
        for (std::int64_t j = 0; j < seen; ++j) w[j] /= total;
    }
  return weights;
}

// True if no part of the problem needs single pairs. Window, dilation, prefix, `allowed`, dropout of weights, bias,
// formula, talking heads, forget gates, selections and weights with a gradient all need pairs.
bool serves(const AttentionProblem& x) {
  const Mask& m = x.mask;
  const bool square = m.offset == 0 && x.queries.shape[2] == x.keys.shape[2];
  return x.normalizer->is_sum() && !x.differentiable_weights && !x.factors && !x.formula && x.parts.empty() &&
         !x.forget.tape && !x.householder && x.dropout == 0 && x.rows == 0 &&
         !(x.position && x.position->is_of_pairs()) && !m.allowed && !x.selection && m.window < 0 && m.dilation == 1 &&
         (!m.causal || (m.prefix == 0 && square));
}

Tensor run(Pass&, const AttentionProblem& x) {
  const Parts parts = parts_of(x, 0);
  if (x.weights) *x.weights = weights_of(x, parts);
  return divided_by_weights(x.mask.causal ? causal_sums(parts, nullptr) : matmul(parts.queries, sums_of_all(parts)),
                            x.queries.shape[0]);
}

constexpr AttentionAlgorithm by_sums{
    .serves = serves,
    .run = run,
    .start = []() -> std::unique_ptr<MixerState> { return std::make_unique<LinearState>(); },
    .step = [](Pass&, const AttentionProblem& x,
               MixerState& state) { return static_cast<LinearState&>(state).step(x); }};

class LinearScore : public Score {
public:
  const AttentionAlgorithm* algorithm() const override { return &by_sums; }
  ScoreForm form(Pass&, const Tensor& queries, const Tensor& keys) const override {
    return DotProductForm{elu_plus_one(queries), elu_plus_one(keys)};
  }
};

Real pair(const PairArguments& a) {
  const auto feature = [](Real x) { return x > 0 ? x + 1 : std::exp(x); };
  Real s = 0;
  for (std::int64_t d = 0; d < a.sizes.query_width; ++d) s += feature(a.query[d]) * feature(a.key[d]);
  return s;
}

} // namespace

extern const ScoreInfo score_linear{
    .about = {.name = "linear",
              .summary =
                  "s(q, k) = (elu(q) + 1) . (elu(k) + 1), never negative; with normalizer = \"sum\" it is linear "
                  "attention",
              .paper = "Katharopoulos et al. 2020, arXiv 2006.16236",
              .equals = "dot of features elu(x) + 1",
              .cost = "no parameters; with normalizer = \"sum\" 2 d operations for each query and feature of a value, "
                      "independent of the number of keys; with a window, dilation, prefix, formula, selection, talking "
                      "heads, forget gates, dropout of weights or a position that adds to scores, 2 d for each pair",
              .presets = {{"attention.normalizer", Value(std::string("sum"))}}},
    .equal_widths = true,
    .make = [](const Scope&, const ScoreSizes&, const OptionValues&) -> std::unique_ptr<Score> {
      return std::make_unique<LinearScore>();
    },
    .pair = pair};

} // namespace heed::HEED_REAL
