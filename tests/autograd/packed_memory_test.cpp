// Keys and values packed once for many calls: results must be bit-identical to packing in each call.
#include "autograd/attention.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

struct Extent {
  std::int64_t batch, heads, key_heads, keys, width, value_width;
};

struct Attended {
  std::vector<Real> y, dq, dk, dv, dw;
  bool operator==(const Attended&) const = default;
};

enum class ScoreKind { inner, pairwise };

constexpr Real factor = Real(0.3); // products with it are rounded

// Five calls with different numbers of queries. Each call depends on the one before, like the steps of a decoder. With
// `columns`, keys and values are stored transposed.
Attended outcome(const Extent& x, ScoreKind kind, double spread, bool packed, const StreamingOptions& given,
                 bool columns = false) {
  const std::int64_t counts[] = {1, 1, 3, 1, 2};
  const auto memory_shape = [&](std::int64_t width) {
    return columns ? Shape{x.batch, x.key_heads, width, x.keys} : Shape{x.batch, x.key_heads, x.keys, width};
  };
  Operand q({x.batch, x.heads, 8, x.width}, 1, {-spread, spread}), k(memory_shape(x.width), 2, {-spread, spread});
  Operand v(memory_shape(x.value_width), 3), w({x.heads, x.width}, 4);
  Tape tape;
  const auto rows = [&](const Tensor& memory) { return columns ? transpose(memory, 2, 3) : memory; };
  const Tensor queries = q.on(tape), keys = k.on(tape), values = rows(v.on(tape)), weights = w.on(tape);
  // Computed in the step, like projections: with a leaf, the gradient's buffer could hide elements that were not
  // written.
  const Tensor own_keys = rows(scale(keys, 1));
  const Tensor some = slice(queries, 2, 0, 1);
  const PackedMemory* memory = !packed                    ? nullptr
                               : kind == ScoreKind::inner ? pack_memory(DotProductForm{some, own_keys, factor}, values)
                                                          : pack_memory(AdditiveForm{some, own_keys, weights}, values);
  CHECK((memory != nullptr) == packed);
  Attended out;
  Tensor total, before;
  std::int64_t first = 0;
  for (const std::int64_t n : counts) {
    Tensor of_call = slice(queries, 2, first, n);
    if (before.tape) of_call = add(of_call, before);
    StreamingOptions options = given;
    options.memory = memory;
    options.first = static_cast<std::uint64_t>(first * 1000);
    const Tensor y = kind == ScoreKind::inner
                         ? attend_softmax(DotProductForm{of_call, own_keys, factor}, values, options)
                         : attend_softmax(AdditiveForm{of_call, own_keys, weights}, values, options);
    const Tensor flat = contiguous(y);
    out.y.insert(out.y.end(), flat.data, flat.data + flat.size());
    const Tensor squares = sum(mul(flat, flat));
    total = total.tape ? add(total, squares) : squares;
    before = scale(squares, Real(0.01));
    first += n;
  }
  tape.backward(total);
  out.dq = q.gradient;
  out.dk = k.gradient;
  out.dv = v.gradient;
  out.dw = w.gradient;
  return out;
}

} // namespace

TEST_CASE("keys and values that are packed once give the bits of those that each call packs") {
  const std::vector<Extent> extents{
      {1, 1, 1, 1, 1, 1}, {3, 1, 1, 65, 16, 16}, {2, 4, 2, 33, 7, 9}, {2, 1, 1, 140, 24, 20}, {1, 2, 1, 35, 72, 100}};
  const std::vector<std::int32_t> lengths{1, 0, 40};
  for (const Extent& x : extents)
    for (const ScoreKind kind : {ScoreKind::inner, ScoreKind::pairwise})
      for (const double spread : {1.0, 30.0, 300.0}) // in each of the ranges of the additive form
        for (const StreamingOptions& options :
             {StreamingOptions{}, StreamingOptions{.mask = {.lengths = lengths.data()}},
              StreamingOptions{.mask = {.offset = 3, .window = 2}, .dropout = 0.3, .key = {1, Stream::test, 2}}}) {
          CAPTURE(x.keys, x.width, static_cast<int>(kind), spread, options.dropout);
          const Attended each = outcome(x, kind, spread, false, options),
                         once = outcome(x, kind, spread, true, options);
          CHECK(each.y == once.y);
          CHECK(each.dq == once.dq);
          CHECK(each.dk == once.dk);
          CHECK(each.dv == once.dv);
          CHECK(each.dw == once.dw);
        }
}

TEST_CASE("keys and values that are columns of their memory have the same gradients, packed or not") {
  const std::vector<std::int32_t> lengths{9, 21};
  for (const Extent& x : {Extent{2, 4, 2, 33, 7, 9}, Extent{2, 1, 1, 65, 24, 20}})
    for (const ScoreKind kind : {ScoreKind::inner, ScoreKind::pairwise})
      for (const StreamingOptions& options :
           {StreamingOptions{}, StreamingOptions{.mask = {.lengths = lengths.data()}}}) {
        CAPTURE(x.keys, x.width, static_cast<int>(kind));
        const Attended each = outcome(x, kind, 1, false, options, true),
                       once = outcome(x, kind, 1, true, options, true);
        CHECK(distance(once.y, each.y) < rounding);
        CHECK(distance(once.dq, each.dq) < rounding);
        CHECK(distance(once.dk, each.dk) < rounding);
        CHECK(distance(once.dv, each.dv) < rounding);
        CHECK(distance(once.dw, each.dw) < rounding);
      }
}

TEST_CASE("keys that are the values themselves are not packed by columns") {
  Operand both({2, 1, 5, 4}, 1), w({1, 4}, 2);
  Tape tape;
  const Tensor x = both.on(tape);
  CHECK(pack_memory(AdditiveForm{x, x, w.on(tape)}, x) == nullptr);
}
