// Compares the streaming attention kernels with the composition of products, masked softmax and dropout that they
// replace. Both sides round sums of hundreds of terms: 1e-12 in float64 is 4500 units in the last place of 1, 2e-5 in
// float32 is 170.
#include "autograd/attention.hpp"
#include "autograd/normalize.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/relative.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/autograd/row_rules.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

constexpr double tolerance = std::is_same_v<Real, double> ? 1e-12 : 2e-5;

struct Problem {
  std::int64_t batch, heads, queries, keys, width, value_width;
};

// Odd lengths and widths, one position, several tiles, different numbers of queries and keys.
const std::vector<Problem> problems{{1, 1, 1, 1, 1, 1},     {2, 3, 5, 7, 3, 5},     {1, 2, 33, 33, 16, 16},
                                    {2, 1, 64, 64, 32, 32}, {1, 2, 77, 77, 24, 20}, {1, 1, 130, 197, 17, 33},
                                    {1, 1, 200, 70, 64, 8}, {1, 2, 3, 129, 8, 40}};

struct MaskCase {
  std::string name;
  std::function<Mask(const Problem&)> make;
};

// The memory that masks point to.
std::vector<std::int32_t> lengths;
std::vector<std::uint8_t> allowed;

const std::vector<MaskCase> masks{
    {"none", [](const Problem&) { return Mask{}; }},
    {"causal", [](const Problem&) { return Mask{.causal = true}; }},
    {"causal after cached keys", [](const Problem& p) { return Mask{.causal = true, .offset = p.keys - p.queries}; }},
    {"window", [](const Problem&) { return Mask{.window = 3}; }},
    {"causal behind a prefix", [](const Problem& p) { return Mask{.causal = true, .prefix = p.keys / 2}; }},
    {"causal behind a prefix, in a window",
     [](const Problem&) { return Mask{.causal = true, .prefix = 40, .window = 35}; }},
    {"causal behind a prefix, in a window, after cached keys",
     [](const Problem& p) {
       return Mask{.causal = true, .prefix = 4, .offset = std::max<std::int64_t>(p.keys - p.queries, 0), .window = 9};
     }},
    {"dilated", [](const Problem&) { return Mask{.offset = 2, .dilation = 3}; }},
    {"causal behind a prefix, in a dilated window",
     [](const Problem&) { return Mask{.causal = true, .prefix = 9, .window = 60, .dilation = 5}; }},
    {"window behind a prefix", [](const Problem&) { return Mask{.prefix = 5, .window = 7}; }},
    {"padding",
     [](const Problem& p) {
       lengths.clear();
       for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back(static_cast<std::int32_t>(b ? 0 : p.keys / 2 + 1));
       return Mask{.lengths = lengths.data()};
     }},
    {"allowed here and there, and nowhere in one row", [](const Problem& p) {
       allowed.clear();
       for (std::int64_t i = 0; i < p.queries; ++i)
         for (std::int64_t j = 0; j < p.keys; ++j) allowed.push_back(i != p.queries / 2 && (i * 7 + j * 5) % 3 != 0);
       return Mask{.allowed = allowed.data()};
     }}};

struct Outcome {
  std::vector<Real> y, dq, dk, dv, dw;
};

using Attend = std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& v)>;

// Values and gradients, through views as in a model: heads are slices of the rows of a wider matrix.
Outcome outcome(const Problem& p, double spread, const Attend& attend) {
  Operand q({p.batch, p.queries, p.heads, p.width}, 1, {-spread, spread});
  Operand k({p.batch, p.keys, p.heads, p.width}, 2, {-spread, spread});
  Operand v({p.batch, p.keys, p.heads, p.value_width}, 3);
  Operand w({p.heads, p.width}, 4);
  const std::vector<Real> along = draw(p.batch * p.heads * p.queries * p.value_width, 5);
  Tape tape;
  const Tensor y = attend(transpose(q.on(tape), 1, 2), transpose(k.on(tape), 1, 2), w.on(tape),
                          transpose(v.on(tape), 1, 2));
  tape.backward(sum(mul(y, tape.copy(along.data(), y.shape))));
  return {read(y), q.gradient, k.gradient, v.gradient, w.gradient};
}

// The largest difference, relative to the largest value if that is above 1, because smaller values can result from
// cancellation of terms of that size.
double apart(const std::vector<Real>& found, const std::vector<Real>& expected) {
  double largest = 1, worst = found.size() == expected.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    const double a = static_cast<double>(found[i]), b = static_cast<double>(expected[i]);
    largest = std::max(largest, std::abs(b));
    worst = std::isfinite(a - b) ? std::max(worst, std::abs(a - b)) : INFINITY;
  }
  return worst / largest;
}

// The weights' gradient is a sum over `terms` queries and keys. Its rounding errors grow like a random walk.
void compare(const Outcome& found, const Outcome& expected, double terms = 1) {
  const double walk = std::sqrt(terms) * static_cast<double>(std::numeric_limits<Real>::epsilon());
  CHECK(apart(found.y, expected.y) < tolerance);
  CHECK(apart(found.dq, expected.dq) < tolerance);
  CHECK(apart(found.dk, expected.dk) < tolerance);
  CHECK(apart(found.dv, expected.dv) < tolerance);
  CHECK(apart(found.dw, expected.dw) < std::max(tolerance, walk));
}

const RandomKey key{11, Stream::test, 3};

Tensor weigh(const Tensor& scores, const Tensor& v, const Mask& mask, double probability) {
  const Tensor weights = masked_softmax(scores, mask);
  return matmul(probability > 0 ? dropout(weights, probability, key, 40) : weights, v);
}

// Checks the conditions of autograd/mask.hpp one by one.
bool may_attend(const Mask& m, std::int64_t b, std::int64_t i, std::int64_t j) {
  const std::int64_t at = i + m.offset;
  if (m.lengths && j >= m.lengths[b]) return false;
  if (j < m.prefix) return true;
  if (m.causal && j > at) return false;
  return (m.window < 0 || std::abs(j - at) <= m.window) && (j - at) % m.dilation == 0;
}

enum class Form { dot_product, additive, distance };
constexpr Form forms[] = {Form::dot_product, Form::additive, Form::distance};

// A score and its gradients by q, k and w, which are accumulated: s(q, k) = factor q k, sum w tanh(q + k), or -factor
// sum |q - k|.
struct Pairs {
  Form form;
  double factor;

  double score(const Real* q, const Real* k, const Real* w, std::int64_t width) const {
    double s = 0;
    for (std::int64_t d = 0; d < width; ++d) {
      const auto qd = static_cast<double>(q[d]), kd = static_cast<double>(k[d]);
      s += form == Form::additive   ? static_cast<double>(w[d]) * std::tanh(qd + kd)
           : form == Form::distance ? -factor * std::abs(qd - kd)
                                    : factor * qd * kd;
    }
    return s;
  }
  void add_gradient(const Real* q, const Real* k, const Real* w, std::int64_t width, double ds, double* dq, double* dk,
                    double* dw) const {
    for (std::int64_t d = 0; d < width; ++d) {
      const auto qd = static_cast<double>(q[d]), kd = static_cast<double>(k[d]), t = std::tanh(qd + kd);
      const double along = ds * static_cast<double>(w[d]) * (1 - t * t);
      const double away = ds * factor * (qd > kd ? 1 : qd < kd ? -1 : 0);
      dq[d] += form == Form::additive ? along : form == Form::distance ? -away : ds * factor * kd;
      dk[d] += form == Form::additive ? along : form == Form::distance ? away : ds * factor * qd;
      dw[d] += form == Form::additive ? ds * t : 0;
    }
  }
};

// The result and gradients for the problem of `outcome`, in plain loops over pairs, in double.
Outcome naive(const Problem& p, double spread, const Mask& mask, const Pairs& pairs) {
  const Operand q({p.batch, p.queries, p.heads, p.width}, 1, {-spread, spread});
  const Operand k({p.batch, p.keys, p.heads, p.width}, 2, {-spread, spread});
  const Operand v({p.batch, p.keys, p.heads, p.value_width}, 3);
  const Operand w({p.heads, p.width}, 4);
  const std::vector<Real> along = draw(p.batch * p.heads * p.queries * p.value_width, 5);
  std::vector<double> all_y(along.size()), all_dq(q.values.size()), all_dk(k.values.size()), all_dv(v.values.size()),
      all_dw(w.values.size());
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t h = 0; h < p.heads; ++h)
      for (std::int64_t i = 0; i < p.queries; ++i) {
        const std::int64_t q_at = ((b * p.queries + i) * p.heads + h) * p.width, w_at = h * p.width;
        const std::int64_t y_at = ((b * p.heads + h) * p.queries + i) * p.value_width;
        const auto k_at = [&](std::int64_t j) { return ((b * p.keys + j) * p.heads + h) * p.width; };
        const auto v_at = [&](std::int64_t j) { return ((b * p.keys + j) * p.heads + h) * p.value_width; };
        const Real *query = q.values.data() + q_at, *weights = w.values.data() + w_at, *dy = along.data() + y_at;
        double* y = all_y.data() + y_at;
        std::vector<std::pair<std::int64_t, double>> seen; // the key, and its score, later its weight
        double top = -INFINITY, total = 0, mean = 0;
        for (std::int64_t j = 0; j < p.keys; ++j)
          if (may_attend(mask, b, i, j)) {
            seen.emplace_back(j, pairs.score(query, k.values.data() + k_at(j), weights, p.width));
            top = std::max(top, seen.back().second);
          }
        for (auto& [j, weight] : seen) total += weight = std::exp(weight - top);
        std::vector<double> gradients;
        for (auto& [j, weight] : seen) {
          weight /= total;
          double gradient = 0;
          const Real* value = v.values.data() + v_at(j);
          double* dv = all_dv.data() + v_at(j);
          for (std::int64_t d = 0; d < p.value_width; ++d) {
            y[d] += weight * static_cast<double>(value[d]);
            dv[d] += weight * static_cast<double>(dy[d]);
            gradient += static_cast<double>(dy[d]) * static_cast<double>(value[d]);
          }
          gradients.push_back(gradient);
          mean += weight * gradient;
        }
        for (std::size_t n = 0; n < seen.size(); ++n)
          pairs.add_gradient(query, k.values.data() + k_at(seen[n].first), weights, p.width,
                             seen[n].second * (gradients[n] - mean), all_dq.data() + q_at,
                             all_dk.data() + k_at(seen[n].first), all_dw.data() + w_at);
      }
  const auto rounded = [](const std::vector<double>& x) { return std::vector<Real>(x.begin(), x.end()); };
  return {rounded(all_y), rounded(all_dq), rounded(all_dk), rounded(all_dv), rounded(all_dw)};
}

std::int64_t pairs_of(const Problem& p, const Mask& mask) {
  std::int64_t pairs = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t i = 0; i < p.queries; ++i)
      for (std::int64_t j = 0; j < p.keys; ++j) pairs += may_attend(mask, b, i, j) ? p.heads : 0;
  return pairs;
}

// The number of operations that the kernel reports for its forward pass.
double operations(const Problem& p, const Mask& mask, bool pairwise = false) {
  Tape tape;
  const Tensor q = tape.zeros({p.batch, p.heads, p.queries, p.width}),
               k = tape.zeros({p.batch, p.heads, p.keys, p.width}),
               v = tape.zeros({p.batch, p.heads, p.keys, p.value_width}), w = tape.zeros({p.heads, p.width});
  const double before = counted_operations();
  if (pairwise) attend_softmax(AdditiveForm{q, k, w}, v, {.mask = mask});
  else attend_softmax(DotProductForm{q, k}, v, {.mask = mask});
  return counted_operations() - before;
}

// In instrumented builds, a composition over pairs and widths takes seconds.
#ifdef HEED_INSTRUMENTED
constexpr int one_case_in = 5;
#else
constexpr int one_case_in = 1;
#endif

Tensor composed_additive(const Tensor& q, const Tensor& k, const Tensor& w) {
  const Tensor v = reshape(w, {w.shape[0], 1, 1, w.shape[1]});
  return sum(mul(tanh(add(unsqueeze(q, 3), unsqueeze(k, 2))), v), -1);
}

Tensor composed_distance(const Tensor& q, const Tensor& k, Real factor) {
  return scale(sum(abs(sub(unsqueeze(q, 3), unsqueeze(k, 2))), -1), -factor);
}

} // namespace

TEST_CASE("attend_dot_product is softmax(factor q k') v, values and gradients, for every mask") {
  for (const Problem& p : problems)
    for (const MaskCase& mask_case : masks)
      for (const double probability : {0.0, 0.25}) {
        CAPTURE(p.queries, p.keys, p.width, p.value_width, mask_case.name, probability);
        const Mask mask = mask_case.make(p);
        const Real factor = Real(0.3);
        Outcome found = outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) {
          return add(attend_softmax(DotProductForm{q, k, factor}, v,
                                    {.mask = mask, .dropout = probability, .key = key, .first = 40}),
                     scale(sum(w), 0));
        });
        compare(found, outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) {
                  return add(weigh(scale(matmul(q, transpose(k)), factor), v, mask, probability), scale(sum(w), 0));
                }));
      }
}

TEST_CASE("attend_additive is softmax(sum w tanh(q + k)) v, values and gradients, for every mask") {
  int turn = 0;
  for (const Problem& p : problems)
    for (const MaskCase& mask_case : masks)
      for (const double probability : {0.0, 0.25}) {
        if (turn++ % one_case_in != 0) continue;
        CAPTURE(p.queries, p.keys, p.width, p.value_width, mask_case.name, probability);
        const Mask mask = mask_case.make(p);
        compare(outcome(p, 2,
                        [&](auto& q, auto& k, auto& w, auto& v) {
                          return attend_softmax(AdditiveForm{q, k, w}, v,
                                                {.mask = mask, .dropout = probability, .key = key, .first = 40});
                        }),
                outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) {
                  return weigh(composed_additive(q, k, w), v, mask, probability);
                }));
      }
}

TEST_CASE("attention by distances is softmax(-factor sum |q - k|) v, values and gradients, for every mask") {
  for (const Problem& p : problems)
    for (const MaskCase& mask_case : masks)
      for (const double probability : {0.0, 0.25}) {
        CAPTURE(p.queries, p.keys, p.width, p.value_width, mask_case.name, probability);
        const Mask mask = mask_case.make(p);
        const Real factor = Real(0.3);
        compare(outcome(p, 2,
                        [&](auto& q, auto& k, auto& w, auto& v) {
                          return add(attend_softmax(DistanceForm{q, k, factor}, v,
                                                    {.mask = mask, .dropout = probability, .key = key, .first = 40}),
                                     scale(sum(w), 0));
                        }),
                outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) {
                  return add(weigh(composed_distance(q, k, factor), v, mask, probability), scale(sum(w), 0));
                }));
      }
}

TEST_CASE("where a query and a key are equal in a dimension, attention by distances has the gradient 0 there") {
  // In the first dimension all are equal, and in the second the query is 1 above or below the keys.
  Operand q({1, 1, 1, 2}, 1), k({1, 1, 2, 2}, 2), v({1, 1, 2, 1}, 3);
  q.values = {3, 0};
  k.values = {3, -1, 3, 1};
  v.values = {1, 0};
  Tape tape;
  tape.backward(sum(attend_softmax(DistanceForm{q.on(tape), k.on(tape)}, v.on(tape))));
  // The weights are 0.5 each, so the scores' gradients are 0.25 and -0.25.
  CHECK(q.gradient == std::vector<Real>{0, Real(-0.5)});
  CHECK(k.gradient == std::vector<Real>{0, Real(0.25), 0, Real(0.25)});
}

TEST_CASE("attend_additive holds for large arguments, where exp(2q) exp(2k) needs care") {
  // 8: truncated products; 60: exponentials of sums, in float32. Both have correct gradients.
  for (const double spread : {8.0, 20.0, 60.0, 400.0}) {
    CAPTURE(spread);
    const Problem p{1, 2, 37, 45, 12, 8};
    compare(outcome(p, spread,
                    [&](auto& q, auto& k, auto& w, auto& v) {
                      return attend_softmax(AdditiveForm{q, k, w}, v);
                    }),
            outcome(p, spread,
                    [&](auto& q, auto& k, auto& w, auto& v) { return weigh(composed_additive(q, k, w), v, {}, 0); }));
  }
}

TEST_CASE("attend_additive knows opposite extremes: q = -60 and k = 50 give tanh(-10), not 0") {
  Tape tape;
  const std::vector<Real> q{-60}, k{50, -60}, w{1}, v{1, 0};
  const Tensor y = attend_softmax(AdditiveForm{tape.copy(q.data(), {1, 1, 1, 1}), tape.copy(k.data(), {1, 1, 2, 1}),
                                               tape.copy(w.data(), {1, 1})},
                                  tape.copy(v.data(), {1, 1, 2, 1}));
  CHECK(y.data[0] == Approx(0.5)); // tanh(-10) and tanh(-120) are both -1
}

TEST_CASE("attend_additive with matrices is the same of the products with them, and so are its gradients") {
  constexpr std::int64_t hidden = 11;
  for (const Problem& p : problems)
    for (const MaskCase& mask_case : masks)
      for (const bool shared : {false, true}) {
        CAPTURE(p.queries, p.keys, p.width, mask_case.name, shared);
        const StreamingOptions options{.mask = mask_case.make(p)};
        std::vector<Real> gradients[2][3];
        Outcome outcomes[2];
        for (const bool composed : {false, true}) {
          // `shared`: one matrix [2 width, hidden] for queries and keys; otherwise one matrix for each. u is the weight
          // vector.
          Operand query({p.heads, (shared ? 2 : 1) * p.width, hidden}, 6, {-0.3, 0.3});
          Operand key({p.heads, p.width, hidden}, 7, {-0.3, 0.3}), u({p.heads, hidden}, 8);
          outcomes[composed] = outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) {
            Tape& tape = *q.tape;
            const Tensor wq = query.on(tape), wk = key.on(tape), weights = u.on(tape);
            const AdditiveMatrices m{shared ? slice(wq, 1, 0, p.width) : wq,
                                     shared ? slice(wq, 1, p.width, p.width) : wk};
            const Tensor y = attend_softmax(composed ? AdditiveForm{matmul(q, m.query), matmul(k, m.key), weights}
                                                     : AdditiveForm{q, k, weights, m},
                                            v, options);
            return add(y, scale(add(sum(w), sum(wk)), 0));
          });
          gradients[composed][0] = query.gradient;
          gradients[composed][1] = key.gradient;
          gradients[composed][2] = u.gradient;
        }
        compare(outcomes[0], outcomes[1]);
        for (int i = 0; i < 3; ++i) CHECK(apart(gradients[0][i], gradients[1][i]) < tolerance);
      }
}

TEST_CASE("A row that may attend to nothing gives zeros and a zero gradient") {
  const Problem p{1, 1, 4, 5, 3, 2};
  const std::vector<std::int32_t> none{0};
  for (const bool pairwise : {false, true}) {
    const Outcome o = outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) {
      const StreamingOptions options{.mask = {.lengths = none.data()}};
      return pairwise ? attend_softmax(AdditiveForm{q, k, w}, v, options)
                      : add(attend_softmax(DotProductForm{q, k}, v, options), scale(sum(w), 0));
    });
    for (const auto& numbers : {o.y, o.dq, o.dk, o.dv, o.dw})
      for (Real x : numbers) CHECK(x == 0);
  }
}

TEST_CASE("One tensor may be queries, keys and values at once") {
  const Shape shape{1, 2, 19, 8};
  for (const bool pairwise : {false, true}) {
    Operand x(shape, 7), y(shape, 7), w({2, 8}, 8), u({2, 8}, 8);
    Tape tape;
    const Tensor a = x.on(tape), b = y.on(tape);
    const Tensor found = pairwise ? attend_softmax(AdditiveForm{a, a, w.on(tape)}, a, {.mask = {.causal = true}})
                                  : attend_softmax(DotProductForm{a, a}, a, {.mask = {.causal = true}});
    const Tensor expected = weigh(pairwise ? composed_additive(b, b, u.on(tape)) : matmul(b, transpose(b)), b,
                                  {.causal = true}, 0);
    tape.backward(add(sum(mul(found, found)), sum(mul(expected, expected))));
    CHECK(apart(read(found), read(expected)) < tolerance);
    CHECK(apart(x.gradient, y.gradient) < tolerance);
  }
}

TEST_CASE("Queries, keys and values may be the parts of one projection, with and without a rest") {
  constexpr std::int64_t heads = 2, width = 8, length = 19;
  for (const std::int64_t rest : {0, 5})
    for (const bool pairwise : {false, true}) {
      CAPTURE(rest, pairwise);
      const Shape shape{2, length, 3 * heads * width + rest};
      Operand x(shape, 7), y(shape, 7), w({heads, width}, 8), u({heads, width}, 8);
      Tape tape;
      const Tensor a = x.on(tape), b = y.on(tape);
      const auto part = [&](const Tensor& all, std::int64_t i) {
        Tensor p = slice(all, 2, i * heads * width, heads * width);
        p.shape = {2, heads, length, width};
        p.stride = {all.stride[0], width, all.stride[1], 1};
        return p;
      };
      const Mask mask{.causal = true};
      const Tensor found = pairwise
                               ? attend_softmax(AdditiveForm{part(a, 0), part(a, 1), w.on(tape)}, part(a, 2),
                                                {.mask = mask})
                               : attend_softmax(DotProductForm{part(a, 0), part(a, 1)}, part(a, 2), {.mask = mask});
      const Tensor scores = pairwise ? composed_additive(part(b, 0), part(b, 1), u.on(tape))
                                     : matmul(part(b, 0), transpose(part(b, 1)));
      const Tensor expected = weigh(scores, part(b, 2), mask, 0);
      tape.backward(add(sum(mul(found, found)), sum(mul(expected, expected))));
      CHECK(apart(x.gradient, y.gradient) < tolerance);
    }
}

TEST_CASE("Shapes that do not fit are refused by name") {
  Tape tape;
  const auto zeros = [&](const Shape& s) { return tape.zeros(s); };
  using Catch::Contains;
  CHECK_THROWS_WITH(attend_softmax(DotProductForm{zeros({1, 1, 2, 3}), zeros({1, 1, 2, 4})}, zeros({1, 1, 2, 3})),
                    "[attend_dot_product] q and k must have one width: q is [1, 1, 2, 3], k is [1, 1, 2, 4]");
  CHECK_THROWS_WITH(attend_softmax(DotProductForm{zeros({1, 3, 2, 3}), zeros({1, 2, 2, 3})}, zeros({1, 2, 2, 3})),
                    Contains("H a multiple of Hk: q is [1, 3, 2, 3], k is [1, 2, 2, 3]"));
  CHECK_THROWS_WITH(attend_softmax(AdditiveForm{zeros({1, 1, 2, 3}), zeros({1, 1, 2, 3}), zeros({1, 2})},
                                   zeros({1, 1, 2, 3})),
                    "[attend_additive] w must be [1, 3], it is [1, 2]");
  CHECK_THROWS_WITH(attend_softmax(AdditiveForm{zeros({1, 1, 2, 3}),
                                                zeros({1, 1, 2, 3}),
                                                zeros({1, 4}),
                                                {zeros({1, 3, 4}), zeros({1, 2, 4})}},
                                   zeros({1, 1, 2, 3})),
                    Contains("[attend_additive]") && Contains("[1, 3, 4], [1, 2, 4] and [1, 4]"));
}

TEST_CASE("streams, compositions and plain loops agree on dilated masks, and count their pairs") {
  const Problem p{2, 1, 70, 140, 5, 3};
  const double terms = static_cast<double>(p.batch * p.queries * p.keys);
  const std::vector<std::int32_t> some{140, 60};
  for (const std::int64_t dilation : {2, 7, 130})
    for (const bool causal : {false, true})
      for (const std::int64_t window : {-1, 0, 14, 100})
        for (const std::int64_t prefix : {0, 5, 135})
          for (const std::int32_t* padding : {static_cast<const std::int32_t*>(nullptr), some.data()}) {
            CAPTURE(dilation, causal, window, prefix, padding ? padding[0] : -1);
            const Mask mask{.causal = causal,
                            .prefix = prefix,
                            .offset = 31,
                            .window = window,
                            .dilation = dilation,
                            .lengths = padding};
            const Real factor = Real(0.3);
            const Outcome inner = naive(p, 1, mask, {Form::dot_product, static_cast<double>(factor)});
            compare(
                outcome(p, 1,
                        [&](auto& q, auto& k, auto& w, auto& v) {
                          return add(attend_softmax(DotProductForm{q, k, factor}, v, {.mask = mask}), scale(sum(w), 0));
                        }),
                inner, terms);
            compare(outcome(p, 1,
                            [&](auto& q, auto& k, auto& w, auto& v) {
                              return add(weigh(scale(matmul(q, transpose(k)), factor), v, mask, 0), scale(sum(w), 0));
                            }),
                    inner, terms);
            const std::int64_t seen = pairs_of(p, mask);
            CHECK(operations(p, mask) == Approx(2.0 * static_cast<double>(seen * (p.width + p.value_width))));
            // For w tanh(q + k): two additions, a tanh and a product.
            CHECK(operations(p, mask, true) == Approx(static_cast<double>(seen * (4 * p.width + 2 * p.value_width))));
          }
}

// For all forms of score: more than a tile of keys between the prefix and a window, prefixes of several tiles,
// prefixes cut by padding, and queries whose window contains no key.
TEST_CASE("streams, compositions and plain loops agree on causal, window, prefix and padding, in every combination",
          "[many]") {
  const Problem p{2, 2, 330, 340, 5, 3};
  const double terms = static_cast<double>(p.batch * p.queries * p.keys);
  const std::vector<std::int32_t> some{340, 60}, few{3, 0};
  for (const bool causal : {false, true})
    for (const std::int64_t window : {-1, 0, 5, 140})
      for (const std::int64_t prefix : {0, 1, 7, 150})
        for (const std::int32_t* padding : {static_cast<const std::int32_t*>(nullptr), some.data(), few.data()}) {
          CAPTURE(causal, window, prefix, padding ? padding[0] : -1);
          const Mask mask{.causal = causal, .prefix = prefix, .window = window, .lengths = padding};
          const Real factor = Real(0.3);
          const Outcome inner = naive(p, 1, mask, {Form::dot_product, static_cast<double>(factor)});
          compare(
              outcome(p, 1,
                      [&](auto& q, auto& k, auto& w, auto& v) {
                        return add(attend_softmax(DotProductForm{q, k, factor}, v, {.mask = mask}), scale(sum(w), 0));
                      }),
              inner, terms);
          compare(outcome(p, 1,
                          [&](auto& q, auto& k, auto& w, auto& v) {
                            return add(weigh(scale(matmul(q, transpose(k)), factor), v, mask, 0), scale(sum(w), 0));
                          }),
                  inner, terms);
          const std::int64_t seen = pairs_of(p, mask);
          CHECK(operations(p, mask) == Approx(2.0 * static_cast<double>(seen * (p.width + p.value_width))));
          const Outcome pairwise = naive(p, 1, mask, {Form::additive, 0});
          compare(outcome(p, 1,
                          [&](auto& q, auto& k, auto& w, auto& v) {
                            return attend_softmax(AdditiveForm{q, k, w}, v, {.mask = mask});
                          }),
                  pairwise, terms);
          compare(outcome(p, 1,
                          [&](auto& q, auto& k, auto& w, auto& v) {
                            return weigh(composed_additive(q, k, w), v, mask, 0);
                          }),
                  pairwise, terms);
          compare(outcome(p, 1,
                          [&](auto& q, auto& k, auto& w, auto& v) {
                            return add(attend_softmax(DistanceForm{q, k, factor}, v, {.mask = mask}), scale(sum(w), 0));
                          }),
                  naive(p, 1, mask, {Form::distance, static_cast<double>(factor)}), terms);
        }
}

namespace {

const SoftmaxRule softmax_rows;
const ShareRule share_rows;
const LogisticRule logistic_rows;
const LargestRule largest_rows;

// Scores of any form, and attention over them: by a kernel or composed.
struct Streamed {
  Form form;
  const RowRule* policy; // null: the kernel for softmax
  Real factor = Real(0.3);

  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& v,
                    const StreamingOptions& options) const {
    const auto attend = [&](const auto& scores) {
      return policy ? attend_rows(scores, v, *policy, options) : attend_softmax(scores, v, options);
    };
    if (form == Form::additive) return attend(AdditiveForm{q, k, w});
    const Tensor y = form == Form::distance ? attend(DistanceForm{q, k, factor}) : attend(DotProductForm{q, k, factor});
    return add(y, scale(sum(w), 0));
  }
  Tensor composed(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& v, const StreamingOptions& options,
                  Tensor* weights_out = nullptr) const {
    const std::int64_t sharing = q.shape[1] / k.shape[1];
    const auto each = [&](const Tensor& x) {
      std::vector<Tensor> heads;
      for (std::int64_t h = 0; h < q.shape[1]; ++h) heads.push_back(slice(x, 1, h / sharing, 1));
      std::span<Tensor> kept(x.tape->keep<Tensor>(q.shape[1]), heads.size());
      std::copy(heads.begin(), heads.end(), kept.begin());
      return concat(kept, 1);
    };
    const Tensor keys = each(k), values = each(v);
    const auto without_weights = [&](const Tensor& scores) { return add(scores, scale(sum(w), 0)); };
    const Tensor scores = add_bias(form == Form::additive ? composed_additive(q, keys, w)
                                   : form == Form::distance
                                       ? without_weights(composed_distance(q, keys, factor))
                                       : without_weights(scale(matmul(q, transpose(keys)), factor)),
                                   options.bias);
    const Tensor weights = policy ? normalize_rows("rows", scores, options.mask, *policy)
                                  : masked_softmax(scores, options.mask);
    if (weights_out) *weights_out = weights;
    return matmul(options.dropout > 0 ? dropout(weights, options.dropout, options.key, options.first) : weights,
                  values);
  }
};

// All kernels.
std::vector<Streamed> kernels() {
  std::vector<Streamed> out;
  for (const Form form : forms)
    for (const RowRule* policy : {static_cast<const RowRule*>(nullptr), static_cast<const RowRule*>(&softmax_rows),
                                  static_cast<const RowRule*>(&share_rows), static_cast<const RowRule*>(&logistic_rows),
                                  static_cast<const RowRule*>(&largest_rows)})
      out.push_back({form, policy});
  return out;
}

// One row policy's kernel for each form of score, for tests that would take too long with all kernels.
std::vector<Streamed> some_kernels() {
  std::vector<Streamed> out;
  for (const Form form : forms) out.push_back({form, &share_rows});
  return out;
}

void check_rows(const Streamed& kernel, double probability) {
  for (const Problem& p : problems)
    for (const MaskCase& mask_case : masks) {
      CAPTURE(kernel.form, kernel.policy == &softmax_rows, p.queries, p.keys, p.width, mask_case.name, probability);
      const StreamingOptions options{.mask = mask_case.make(p), .dropout = probability, .key = key, .first = 40};
      compare(outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) { return kernel(q, k, w, v, options); }),
              outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) { return kernel.composed(q, k, w, v, options); }),
              static_cast<double>(p.queries * p.keys));
    }
}

} // namespace

TEST_CASE("rows by a rule are what the composition gives, values and gradients, for every mask", "[many]") {
  for (const Streamed& kernel : kernels())
    if (kernel.policy)
      for (const double probability : {0.0, 0.25}) check_rows(kernel, probability);
}

TEST_CASE("rows by sparsemax's rule are what the composition gives, for every mask") {
  for (const Streamed& kernel : some_kernels()) check_rows(kernel, 0.25);
}

TEST_CASE("heads that share keys and values are as if each had its own, in every kernel") {
  for (const Streamed& kernel : kernels())
    for (const std::int64_t key_heads : {1, 2, 6})
      for (const bool causal : {false, true}) {
        CAPTURE(kernel.form, key_heads, causal);
        const StreamingOptions options{.mask = {.causal = causal}};
        const std::int64_t batch = 2, heads = 6, queries = 37, keys = 41, width = 9, value_width = 7;
        std::vector<Real> found[2][5];
        for (const bool composed : {false, true}) {
          Operand q({batch, heads, queries, width}, 1), k({batch, key_heads, keys, width}, 2),
              v({batch, key_heads, keys, value_width}, 3), w({heads, width}, 4);
          const std::vector<Real> along = draw(batch * heads * queries * value_width, 5);
          Tape tape;
          const Tensor a = q.on(tape), b = k.on(tape), c = w.on(tape), d = v.on(tape);
          const Tensor y = composed ? kernel.composed(a, b, c, d, options) : kernel(a, b, c, d, options);
          tape.backward(sum(mul(y, tape.copy(along.data(), y.shape))));
          found[composed][0] = read(y);
          found[composed][1] = q.gradient;
          found[composed][2] = k.gradient;
          found[composed][3] = v.gradient;
          found[composed][4] = w.gradient;
        }
        for (int i = 0; i < 5; ++i) CHECK(apart(found[0][i], found[1][i]) < 4 * tolerance);
      }
}

namespace {

void check_weights(const std::vector<Streamed>& tried) {
  for (const Streamed& kernel : tried)
    for (const Problem& p : problems)
      for (const MaskCase& mask_case : masks) {
        CAPTURE(kernel.form, p.queries, p.keys, mask_case.name);
        std::vector<Real> weights(static_cast<std::size_t>(p.batch * p.heads * p.queries * p.keys), Real(7));
        StreamingOptions options{.mask = mask_case.make(p), .dropout = 0.25, .key = key, .first = 40};
        Tensor expected;
        std::vector<Real> y[2], composed;
        for (const bool wanted : {false, true}) {
          options.weights = wanted ? weights.data() : nullptr;
          y[wanted] = outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) { return kernel(q, k, w, v, options); }).y;
        }
        CHECK(y[0] == y[1]); // requesting the weights does not change a bit of the result
        outcome(p, 2, [&](auto& q, auto& k, auto& w, auto& v) {
          const Tensor z = kernel.composed(q, k, w, v, options, &expected);
          composed = read(expected);
          return z;
        });
        CHECK(apart(weights, composed) < tolerance);
      }
}

} // namespace

TEST_CASE("weights on request are what the values are summed with, before dropout", "[many]") {
  check_weights(kernels());
}

TEST_CASE("weights on request are what the values are summed with, by sparsemax's rule") {
  check_weights(some_kernels());
}

TEST_CASE("terms are added to the scores in every kernel, and have their gradients") {
  int turn = 0; // cycles through the four kinds of bias, with eleven masks
  for (const Streamed& kernel : kernels())
    for (const Problem& p : problems)
      for (const MaskCase& mask_case : masks) {
        const int kind = turn % 4;
        if (turn++ % one_case_in != 0) continue;
        CAPTURE(kernel.form, p.queries, p.keys, p.width, mask_case.name, kind);
        const Mask mask = mask_case.make(p);
        Outcome outcomes[2];
        std::vector<Real> gradients[2];
        for (const bool composed : {false, true}) {
          // Kinds: by distance for each query; by head and distance; vectors for each head; vectors for all heads
          // together.
          Operand numbers(kind == 0   ? Shape{p.batch, p.heads, p.queries, 7}
                          : kind == 1 ? Shape{1, p.heads, 1, 2 * p.keys + 1}
                                      : Shape{kind == 2 ? p.heads : 1, p.keys + 3, p.width},
                          9);
          outcomes[composed] = outcome(p, 1, [&](auto& q, auto& k, auto& w, auto& v) {
            const Tensor x = numbers.on(*q.tape);
            StreamingOptions options{.mask = mask};
            options.bias = kind < 2 ? bias_by_distance(x, mask.offset) : bias_by_vector(q, x, -p.keys / 2, mask.offset);
            return add(composed ? kernel.composed(q, k, w, v, options) : kernel(q, k, w, v, options), scale(sum(x), 0));
          });
          gradients[composed] = numbers.gradient;
        }
        const double walk = std::sqrt(static_cast<double>(p.queries * p.keys)) * tolerance;
        compare(outcomes[0], outcomes[1], static_cast<double>(p.queries * p.keys));
        CHECK(apart(gradients[0], gradients[1]) < walk);
      }
}

TEST_CASE("terms by vectors are the products of queries with the vectors of distances, in plain loops") {
  const std::int64_t queries = 53, keys = 150, width = 5, vectors = 40, lowest = -30, offset = 7;
  Operand q({2, 2, queries, width}, 1), a({2, vectors, width}, 2);
  Tape tape;
  const std::vector<Real> found = read(add_bias(tape.zeros({2, 2, queries, keys}),
                                                bias_by_vector(q.on(tape), a.on(tape), lowest, offset)));
  std::vector<Real> expected;
  for (std::int64_t head = 0; head < 4; ++head)
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j) {
        const std::int64_t at = std::clamp<std::int64_t>(j - (i + offset) - lowest, 0, vectors - 1);
        double s = 0;
        for (std::int64_t d = 0; d < width; ++d)
          s += static_cast<double>(q.values[static_cast<std::size_t>((head * queries + i) * width + d)]) *
               static_cast<double>(a.values[static_cast<std::size_t>((head % 2 * vectors + at) * width + d)]);
        expected.push_back(static_cast<Real>(s));
      }
  CHECK(apart(found, expected) < tolerance);
}
