// Weights packed once for many passes (Tape::FrozenWeights), and keys used unpacked by a single query: results must be
// bit-identical to products that pack every time.
#include "autograd/attention.hpp"
#include "autograd/recurrent.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/catch.hpp"

#include <functional>
#include <optional>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// The results of f in two passes of a tape that does not record.
std::vector<std::vector<Real>> two_passes(const std::vector<Real>& parameters, bool fixed,
                                          const std::function<Tensor(Tape&)>& f) {
  Tape tape;
  tape.record(false);
  std::optional<Tape::FrozenWeights> weights;
  if (fixed) weights.emplace(tape, parameters.data(), std::ssize(parameters));
  std::vector<std::vector<Real>> out;
  for (int pass = 0; pass < 2; ++pass) {
    tape.rewind();
    out.push_back(read(f(tape)));
  }
  return out;
}

} // namespace

TEST_CASE("products with fixed weights have the bits of others, pass after pass", "[fixed weights]") {
  for (const std::int64_t rows : {1, 2, 5, 40})
    for (const auto& [out, in] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {65, 30}, {64, 300}, {530, 16}}) {
      INFO(rows << " rows, a weight [" << out << ", " << in << "]");
      const std::vector<Real> parameters = draw(2 * out * in + out, 1), numbers = draw(rows * in, 2);
      const Shape shape{out, in};
      const auto both = [&, out = out, in = in](Tape& tape) {
        const Tensor x = tape.constant(numbers.data(), {rows, in});
        // Two weights next to each other in memory, where the second is not aligned to a SIMD vector; and a part of the
        // first.
        const Tensor first = tape.constant(parameters.data(), shape),
                     second = tape.constant(parameters.data() + out * in, shape),
                     bias = tape.constant(parameters.data() + 2 * out * in, {out});
        const Tensor part = slice(first, 0, 0, (out + 1) / 2);
        return concat({linear(x, first), linear_activation(x, second, &bias, Activation::gelu), linear(x, part)}, 1);
      };
      CHECK(two_passes(parameters, true, both) == two_passes(parameters, false, both));
    }
}

TEST_CASE("steps of recurrent cells with fixed weights have the bits of others", "[fixed weights]") {
  const std::int64_t rows = 3, width = 20;
  const std::vector<Real> parameters = draw(3 * width * width + width, 1), numbers = draw(4 * rows * width, 2);
  const auto step = [&](Tape& tape) {
    const Tensor x = tape.constant(numbers.data(), {1, rows, 3 * width}),
                 h = tape.constant(numbers.data() + 3 * rows * width, {rows, width}),
                 w = tape.constant(parameters.data(), {3 * width, width}),
                 bias = tape.constant(parameters.data() + 3 * width * width, {width});
    return gru(x, h, w, bias).last;
  };
  CHECK(two_passes(parameters, true, step) == two_passes(parameters, false, step));
}

TEST_CASE("weights that change, and those of a pass that records, are no fixed ones", "[fixed weights]") {
  std::vector<Real> outside = draw(12, 1);
  const std::vector<Real> parameters = draw(12, 2), numbers = draw(4, 3);
  Tape tape;
  const Tape::FrozenWeights fixed(tape, parameters.data(), 12);
  CHECK_THROWS_WITH(Tape::FrozenWeights(tape, parameters.data(), 12), Catch::Contains("one model at a time"));
  const auto product = [&](const std::vector<Real>& of) {
    tape.rewind();
    return read(linear(tape.constant(numbers.data(), {1, 4}), tape.constant(of.data(), {3, 4})));
  };
  tape.record(false);
  const std::vector<Real> before = product(outside);
  for (Real& w : outside) w *= 2;
  const std::vector<Real> after = product(outside);
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == 2 * before[i]);
  CHECK(fixed.weights == nullptr);
  tape.record(true);
  product(parameters);
  CHECK(fixed.weights == nullptr);
}

TEST_CASE("a single query has the bits of the same query among others", "[attend]") {
  for (const std::int64_t width : {4, 12, 30, 64})
    for (const std::int64_t keys : {1, 3, 20, 61, 64, 150}) {
      INFO("width " << width << ", " << keys << " keys");
      const std::int64_t heads = 4, key_heads = 2;
      const std::vector<Real> q = draw(heads * keys * width, 1), k = draw(key_heads * keys * width, 2),
                              v = draw(key_heads * keys * width, 3);
      Tape tape;
      const Tensor queries = tape.constant(q.data(), {1, heads, keys, width}),
                   of_keys = tape.constant(k.data(), {1, key_heads, keys, width}),
                   values = tape.constant(v.data(), {1, key_heads, keys, width});
      const auto attended = [&](const Tensor& x) {
        return attend_softmax(DotProductForm{x, of_keys, Real(0.3)}, values, {});
      };
      const Tensor last = slice(queries, 2, keys - 1, 1);
      CHECK(read(attended(last)) == read(slice(attended(queries), 2, keys - 1, 1)));
    }
}
