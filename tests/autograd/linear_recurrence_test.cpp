// The linear recurrence and the causal convolution, compared with plain loops, and the bits that they promise.
#include "autograd/causal_convolution.hpp"
#include "autograd/linear_recurrence.hpp"
#include "autograd/thread_pool.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>
#include <optional>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

struct Sizes {
  std::int64_t batch, key_heads, heads, tokens, key_width, value_width;
  std::int64_t decays;   // of a token and head: 0, 1 or key_width
  bool weighted = false; // has the write a strength?
  bool normalized = false;
  std::int64_t erases = 0;     // numbers of the strength of the erase, of a token and head: 0, 1 or key_width
  bool own_erase_keys = false; // are these numbers erase keys?

  std::int64_t columns() const { return value_width + (normalized ? 1 : 0); } // of a state
};

struct Values {
  Sizes sizes;
  Operand q, k, v, g, start, write, erase;

  explicit Values(const Sizes& s, const Domain& decay = {-1.5, -0.001})
      : sizes(s), q({s.batch, s.key_heads, s.tokens, s.key_width}, 1, s.normalized ? Domain{0.1, 1} : Domain{-1, 1}),
        k({s.batch, s.key_heads, s.tokens, s.key_width}, 2, s.normalized ? Domain{0.1, 1} : Domain{-1, 1}),
        v({s.batch, s.heads, s.tokens, s.value_width}, 3, {-1, 1}),
        g({s.batch, s.heads, s.tokens, std::max<std::int64_t>(s.decays, 1)}, 4, decay),
        start({s.batch, s.heads, s.key_width, s.columns()}, 5, s.normalized ? Domain{0.1, 1} : Domain{-1, 1}),
        write({s.batch, s.heads, s.tokens, 1}, 6, {s.normalized ? 0.1 : -0.5, 2}),
        erase({s.batch, s.heads, s.tokens, std::max<std::int64_t>(s.erases, 1)}, 7, {0, s.erases == 1 ? 2.0 : 1.0}) {
    // Keys of length 1, which the erase needs so that states stay small.
    const auto width = static_cast<std::size_t>(s.key_width);
    for (std::size_t at = 0; s.erases > 0 && at < k.values.size(); at += width) {
      double square = 0;
      for (std::size_t d = 0; d < width; ++d) square += std::pow(static_cast<double>(k.values[at + d]), 2);
      for (std::size_t d = 0; d < width; ++d) k.values[at + d] /= static_cast<Real>(std::sqrt(square));
    }
  }

  LinearRecurrenceOperands on(Tape& tape, bool from_start) {
    return {q.on(tape),
            k.on(tape),
            v.on(tape),
            sizes.decays > 0 ? g.on(tape) : Tensor{},
            from_start ? start.on(tape) : Tensor{},
            sizes.weighted ? write.on(tape) : Tensor{},
            sizes.erases > 0 && !sizes.own_erase_keys ? erase.on(tape) : Tensor{},
            sizes.normalized,
            sizes.own_erase_keys ? erase.on(tape) : Tensor{}};
  }
};

// Outputs and last state by the definition, token by token, in double.
struct Expected {
  std::vector<double> outputs, state;
};
Expected by_loops(const Values& x, bool from_start, const RecurrenceBounds& bounds) {
  const Sizes& s = x.sizes;
  Expected out;
  out.outputs.resize(static_cast<std::size_t>(s.batch * s.heads * s.tokens * s.value_width));
  const auto at = [](const Operand& of, std::int64_t i) {
    return static_cast<double>(of.values[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t h = 0; h < s.heads; ++h) {
      const std::int64_t row = b * s.heads + h, shared = b * s.key_heads + h / (s.heads / s.key_heads);
      std::vector<double> state(static_cast<std::size_t>(s.key_width * s.columns()));
      const auto cell = [&](std::int64_t d, std::int64_t c) -> double& {
        return state[static_cast<std::size_t>(d * s.columns() + c)];
      };
      for (std::int64_t i = 0; from_start && i < s.key_width * s.columns(); ++i)
        state[static_cast<std::size_t>(i)] = at(x.start, row * s.key_width * s.columns() + i);
      for (std::int64_t t = 0; t < s.tokens && (!bounds.lengths || t < bounds.lengths[b]); ++t) {
        if (bounds.segments.numbers && bounds.first + t > 0 &&
            bounds.segments.of(b)[bounds.first + t] != bounds.segments.of(b)[bounds.first + t - 1])
          std::fill(state.begin(), state.end(), 0.0);
        const double strength = s.weighted ? at(x.write, row * s.tokens + t) : 1;
        const auto key = [&](std::int64_t d) { return at(x.k, (shared * s.tokens + t) * s.key_width + d); };
        for (std::int64_t d = 0; d < s.key_width && s.decays > 0; ++d)
          for (std::int64_t c = 0; c < s.columns(); ++c)
            cell(d, c) *= std::exp(at(x.g, (row * s.tokens + t) * s.decays + (s.decays == 1 ? 0 : d)));
        for (std::int64_t c = 0; c < s.columns(); ++c) {
          double erased = 0;
          for (std::int64_t d = 0; d < s.key_width && s.erases > 0; ++d)
            erased += at(x.erase, (row * s.tokens + t) * s.erases + (s.erases == 1 ? 0 : d)) *
                      (s.own_erase_keys ? 1 : key(d)) * cell(d, c);
          const double value = c < s.value_width ? at(x.v, (row * s.tokens + t) * s.value_width + c) : 1;
          for (std::int64_t d = 0; d < s.key_width; ++d) cell(d, c) += key(d) * (strength * value - erased);
        }
        const auto read = [&](std::int64_t c) {
          double sum = 0;
          for (std::int64_t d = 0; d < s.key_width; ++d)
            sum += at(x.q, (shared * s.tokens + t) * s.key_width + d) * cell(d, c);
          return sum;
        };
        for (std::int64_t c = 0; c < s.value_width; ++c)
          out.outputs[static_cast<std::size_t>((row * s.tokens + t) * s.value_width + c)] =
              s.normalized ? read(c) / read(s.value_width) : read(c);
      }
      out.state.insert(out.state.end(), state.begin(), state.end());
    }
  return out;
}

void check_close(const std::vector<Real>& got, const std::vector<double>& wanted, double tolerance) {
  REQUIRE(got.size() == wanted.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - wanted[i]) / std::max(1.0, std::abs(wanted[i])));
  CHECK(worst < tolerance);
}

constexpr double tolerance = sizeof(Real) == 4 ? 2e-5 : 1e-13;

// Outputs, last state and all gradients of a loss of both.
std::vector<std::vector<Real>> outcome(Values& x, bool from_start, const RecurrenceBounds& bounds) {
  Tape tape;
  const auto [y, state] = linear_recurrence(x.on(tape, from_start), bounds, true);
  tape.backward(add(sum(mul(y, y)), sum(tanh(state))));
  std::vector<std::vector<Real>> out{read(y), read(state), x.q.gradient, x.k.gradient, x.v.gradient};
  if (x.sizes.decays > 0) out.push_back(x.g.gradient);
  if (x.sizes.weighted) out.push_back(x.write.gradient);
  if (x.sizes.erases > 0) out.push_back(x.erase.gradient);
  if (from_start) out.push_back(x.start.gradient);
  return out;
}

} // namespace

TEST_CASE("the linear recurrence equals its definition", "[recurrence]") {
  const std::int32_t lengths[] = {65, 0, 17};
  std::vector<std::int32_t> numbers;
  for (std::int64_t b = 0; b < 3; ++b)
    for (std::int32_t t = 0; t < 140; ++t) numbers.push_back(b == 0 ? 0 : t / (b == 1 ? 5 : 33));
  for (const auto& [heads, key_heads] : {std::pair{2, 2}, {4, 2}, {3, 1}})
    for (const auto& [key_width, value_width] : {std::pair{1, 1}, {5, 3}, {16, 16}, {24, 40}})
      for (const std::int64_t tokens : {1, 2, 15, 16, 17, 63, 64, 65, 130})
        for (const std::int64_t decays : {0, 1, key_width})
          for (const bool from_start : {false, true})
            for (const int bounded : {0, 1, 2, 3}) {
              // Outputs are divided, or a part of the state is erased, or neither.
              const bool normalized = value_width == 3 || (value_width == 16 && heads == 4);
              const std::int64_t erases = normalized ? 0 : value_width == 16 ? 1 : value_width == 40 ? key_width : 0;
              Values x({3, key_heads, heads, tokens, key_width, value_width, decays, heads == 4, normalized, erases});
              const RecurrenceBounds bounds{.lengths = bounded % 2 == 1 ? lengths : nullptr,
                                            .segments = {bounded >= 2 ? numbers.data() : nullptr, 140},
                                            .first = bounded >= 2 ? 7 : 0};
              INFO(fmt::format("{} of {} heads, widths {} and {}, {} tokens, {} decays, start {}, bounds {}", key_heads,
                               heads, key_width, value_width, tokens, decays, from_start, bounded));
              Tape tape;
              const auto [y, state] = linear_recurrence(x.on(tape, from_start), bounds, true);
              const Expected expected = by_loops(x, from_start, bounds);
              check_close(read(y), expected.outputs, tolerance);
              check_close(read(state), expected.state, tolerance);
            }
}

TEST_CASE("a decay that is the same at every token may be stated once", "[recurrence]") {
  Values x({2, 2, 2, 40, 8, 8, 1});
  Operand once({1, 2, 1, 1}, {Real(-0.1), Real(-0.02)});
  for (std::int64_t i = 0; i < x.g.shape.size(); ++i)
    x.g.values[static_cast<std::size_t>(i)] = once.values[static_cast<std::size_t>(i / 40 % 2)];
  Tape tape;
  LinearRecurrenceOperands operands = x.on(tape, false);
  const std::vector<Real> by_token = read(linear_recurrence(operands).outputs);
  operands.log_decay = tape.constant(once.values.data(), once.shape);
  CHECK(read(linear_recurrence(operands).outputs) == by_token);
}

TEST_CASE("the linear recurrence neither overflows nor loses digits with extreme decays", "[recurrence]") {
  for (const auto& [decays, erases] : {std::pair{1, 0}, {8, 0}, {1, 1}, {8, 1}, {8, 8}})
    for (const auto& decay :
         {Domain{-50, -50}, Domain{-5, -5}, Domain{-60, -1e-8}, Domain{-4, -0.1}, Domain{-1e-8, -1e-9}}) {
      Values x({1, 2, 2, 300, 8, 8, decays, false, false, erases}, decay);
      const std::vector<std::vector<Real>> got = outcome(x, true, {});
      const Expected expected = by_loops(x, true, {});
      INFO("decays from " << decay.low << " to " << decay.high << ", " << decays << " of a head, " << erases
                          << " erases");
      check_close(got[0], expected.outputs, 3 * tolerance);
      for (const std::vector<Real>& values : got)
        CHECK(std::ranges::all_of(values, [](Real v) { return std::isfinite(v); }));
    }
}

TEST_CASE("a long sequence keeps its digits", "[recurrence]") {
  for (const auto& [decays, erases] : {std::pair{1, 0}, {8, 0}, {0, 1}, {8, 1}}) {
    Values x({1, 1, 1, 4096, 8, 8, decays, false, false, erases}, {-0.01, -1e-5});
    Tape tape;
    check_close(read(linear_recurrence(x.on(tape, false)).outputs), by_loops(x, false, {}).outputs, 10 * tolerance);
  }
}

TEST_CASE("the bits of the linear recurrence do not depend on threads, batches and segments", "[recurrence]") {
  for (const auto& [decays, erases, own] : {std::tuple{0, 0, false},
                                            {1, 0, false},
                                            {12, 0, false},
                                            {0, 1, false},
                                            {1, 1, false},
                                            {12, 12, false},
                                            {12, 12, true}}) {
    const bool normalized = decays == 1 && erases == 0;
    const Sizes sizes{3, 2, 4, 100, 12, 20, decays, true, normalized, erases, own};
    Values x(sizes);
    const auto alone = outcome(x, true, {});
    for (const int parts : {2, 3, 16}) {
      const CutEverything cut(parts);
      CHECK(outcome(x, true, {}) == alone);
    }
    // The second sequence by itself, and as the second segment of a longer one.
    const auto second = [&](const Operand& of) {
      const auto n = static_cast<std::ptrdiff_t>(of.values.size() / 3);
      return std::vector<Real>(of.values.begin() + n, of.values.begin() + 2 * n);
    };
    Values one({1, 2, 4, 100, 12, 20, decays, true, normalized, erases, own});
    for (auto [to, from] : {std::pair{&one.q, &x.q},
                            {&one.k, &x.k},
                            {&one.v, &x.v},
                            {&one.g, &x.g},
                            {&one.start, &x.start},
                            {&one.write, &x.write},
                            {&one.erase, &x.erase}})
      to->values = second(*from);
    const auto by_itself = outcome(one, true, {});
    for (std::size_t i = 0; i < by_itself.size(); ++i) {
      const auto n = static_cast<std::ptrdiff_t>(alone[i].size() / 3);
      CHECK(std::vector<Real>(alone[i].begin() + n, alone[i].begin() + 2 * n) == by_itself[i]);
    }
    const auto without_start = outcome(one, false, {});
    std::vector<std::int32_t> numbers(137, 4);
    std::fill(numbers.begin(), numbers.begin() + 37, 3);
    Tape tape;
    const auto behind = [&](Operand& of) {
      const Tensor x2 = of.on(tape);
      return concat({slice(x2, 2, 50, 37), x2}, 2);
    };
    const Tensor y = linear_recurrence({behind(one.q),
                                        behind(one.k),
                                        behind(one.v),
                                        decays > 0 ? behind(one.g) : Tensor{},
                                        {},
                                        behind(one.write),
                                        erases > 0 && !own ? behind(one.erase) : Tensor{},
                                        normalized,
                                        own ? behind(one.erase) : Tensor{}},
                                       {.segments = {numbers.data(), 137}})
                         .outputs;
    CHECK(read(slice(y, 2, 37, 100)) == without_start[0]);
  }
}

TEST_CASE("no output of the linear recurrence changes with a later token", "[recurrence]") {
  for (const auto& [decays, erases] : {std::pair{0, 0}, {1, 0}, {8, 0}, {0, 1}, {1, 8}, {8, 1}}) {
    for (const auto& decay : {Domain{-1.5, -0.001}, Domain{-6, -0.001}}) {
      Values x({1, 2, 2, 70, 8, 8, decays, false, false, erases}, decay);
      const auto outputs = [](Values& of) {
        Tape tape;
        return read(linear_recurrence(of.on(tape, false)).outputs);
      };
      const std::vector<Real> before = outputs(x);
      for (const std::int64_t token : {1, 16, 40, 69}) {
        Values changed = x;
        for (Operand* of : {&changed.q, &changed.k, &changed.v, &changed.g, &changed.erase})
          of->values[static_cast<std::size_t>(token * of->shape[3])] -= Real(0.5);
        const std::vector<Real> after = outputs(changed);
        CHECK(std::equal(before.begin(), before.begin() + token * 8, after.begin()));
        CHECK(after != before);
      }
    }
  }
}

TEST_CASE("a state carries the linear recurrence from one piece of a sequence to the next", "[recurrence]") {
  for (const auto& [decays, erases] : {std::pair{0, 0}, {1, 0}, {8, 0}, {0, 1}, {8, 8}})
    for (const std::int64_t piece : {1, 3, 50}) {
      Values x({2, 2, 4, 100, 8, 5, decays, false, false, erases});
      Tape tape;
      tape.record(false);
      const LinearRecurrenceOperands all = x.on(tape, false);
      const auto whole = linear_recurrence(all, {}, true);
      Tensor state;
      double worst = 0;
      for (std::int64_t t = 0; t < 100; t += piece) {
        const std::int64_t n = std::min<std::int64_t>(piece, 100 - t);
        const auto part = [&](const Tensor& of) { return of.tape ? slice(of, 2, t, n) : of; };
        const auto here = linear_recurrence(
            {part(all.queries), part(all.keys), part(all.values), part(all.log_decay), state, {}, part(all.erase)}, {},
            true);
        state = here.state;
        const auto got = read(here.outputs), wanted = read(part(whole.outputs));
        for (std::size_t i = 0; i < got.size(); ++i)
          worst = std::max(worst, static_cast<double>(std::abs(got[i] - wanted[i])));
      }
      CHECK(worst < 10 * tolerance);
    }
}

TEST_CASE("the linear recurrence says which shape does not fit", "[recurrence]") {
  Tape tape;
  const Tensor q = tape.zeros({2, 2, 5, 4}), v = tape.zeros({2, 4, 5, 3}), decay = tape.zeros({2, 4, 5, 3});
  CHECK_THROWS_WITH(linear_recurrence({q, q, tape.zeros({2, 3, 5, 3})}),
                    "[linear_recurrence] q, k and v must be [B, Hk, T, K], [B, Hk, T, K] and [B, H, T, V] with H a "
                    "multiple of Hk: q is [2, 2, 5, 4], k is [2, 2, 5, 4], v is [2, 3, 5, 3]");
  CHECK_THROWS_WITH(
      linear_recurrence({q, q, v, decay}),
      "[linear_recurrence] the decay must be [2, 4, 5, 4 or 1], or [1, 4, 1, 1] without a gradient, it is "
      "[2, 4, 5, 3]");
  CHECK_THROWS_WITH(linear_recurrence({q, q, v, {}, tape.zeros({2, 4, 3, 4})}),
                    "[linear_recurrence] the state must be [2, 4, 4, 3], it is [2, 4, 3, 4]");
  CHECK_THROWS_WITH(linear_recurrence({q, q, v, {}, {}, {}, tape.zeros({2, 4, 5, 3})}),
                    "[linear_recurrence] the strength of the erase must be [2, 4, 5, 4 or 1], it is [2, 4, 5, 3]");
  CHECK_THROWS_WITH(
      linear_recurrence({q, q, v, {}, {}, {}, tape.zeros({2, 4, 5, 1}), true}),
      "[linear_recurrence] outputs can't be divided by the sum of their weights where the state is erased");
  LinearRecurrenceOperands own{q, q, v};
  own.erase_keys = tape.zeros({2, 4, 5, 1});
  CHECK_THROWS_WITH(linear_recurrence(own), "[linear_recurrence] the erase keys must be [2, 4, 5, 4], they are "
                                            "[2, 4, 5, 1]");
  own.erase = own.erase_keys;
  CHECK_THROWS_WITH(linear_recurrence(own), "[linear_recurrence] erase keys have no strength of the erase");
  CHECK_THROWS_WITH(linear_recurrence({q, q, v, {}, {}, tape.zeros({2, 2, 5, 1})}),
                    "[linear_recurrence] the strength of the write must be [2, 4, 5, 1], it is [2, 2, 5, 1]");
}

TEST_CASE("an erase and a write are a step of the general form", "[recurrence]") {
  constexpr std::int64_t tokens = 70, width = 4;
  const Shape keys{1, 1, tokens, width};
  for (const Domain& decay : {Domain{-0.6, -0.001}, Domain{-4, -0.001}}) {
    Operand q(keys, 1, {-1, 1}), k(keys, 2, {-1, 1}), v({1, 1, tokens, 3}, 3, {-1, 1}), g(keys, 4, decay),
        u(keys, 5, {-0.6, 0.6}), p(keys, 6, {-0.6, 0.6});
    Tape tape;
    const auto alternating = [&](const Tensor& first, const Tensor& second) {
      return reshape(concat({unsqueeze(first, 3), unsqueeze(second, 3)}, 3), {1, 1, 2 * tokens, first.shape[3]});
    };
    const auto zeros_as = [&](const Tensor& x) { return tape.zeros(x.shape); };
    const Tensor queries = q.on(tape), values = v.on(tape), decays = g.on(tape);
    LinearRecurrenceOperands all{alternating(zeros_as(queries), queries),
                                 alternating(scale(u.on(tape), -1), k.on(tape)), alternating(zeros_as(values), values),
                                 alternating(decays, zeros_as(decays))};
    all.erase_keys = alternating(mul(exp(scale(decays, -1)), p.on(tape)), zeros_as(queries));
    const Tensor y = linear_recurrence(all).outputs;
    std::vector<double> wanted(tokens * 3), state(width * 3);
    const auto at = [&](const Operand& of, std::int64_t t, std::int64_t d) {
      return static_cast<double>(of.values[static_cast<std::size_t>(t * of.shape[3] + d)]);
    };
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t c = 0; c < 3; ++c) {
        double reading = 0;
        for (std::int64_t d = 0; d < width; ++d) reading += at(p, t, d) * state[static_cast<std::size_t>(d * 3 + c)];
        for (std::int64_t d = 0; d < width; ++d) {
          double& cell = state[static_cast<std::size_t>(d * 3 + c)];
          cell = std::exp(at(g, t, d)) * cell + at(u, t, d) * reading + at(k, t, d) * at(v, t, c);
          wanted[static_cast<std::size_t>(t * 3 + c)] += at(q, t, d) * cell;
        }
      }
    std::vector<double> got;
    const std::vector<Real> rows = read(y);
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t c = 0; c < 3; ++c) got.push_back(rows[static_cast<std::size_t>((2 * t + 1) * 3 + c)]);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - wanted[i]) / std::max(1.0, std::abs(wanted[i])));
    CHECK(worst < 10 * tolerance);
  }
}

TEST_CASE("what is erased with strength 1 at a key is what was there", "[recurrence]") {
  // Two keys of length 1 at a right angle: after each write, the state gives the key's last value.
  Operand q({1, 1, 4, 2}, {1, 0, 1, 0, 1, 0, 1, 0}), k({1, 1, 4, 2}, {1, 0, 0, 1, 1, 0, 0, 1}),
      v({1, 1, 4, 1}, {5, 7, 3, 2});
  const auto outputs = [&](std::vector<Real> strength) {
    Tape tape;
    LinearRecurrenceOperands all{q.on(tape), k.on(tape), v.on(tape)};
    Operand erase({1, 1, 4, 1}, std::move(strength));
    all.erase = erase.on(tape);
    return read(linear_recurrence(all).outputs);
  };
  CHECK(outputs({1, 1, 1, 1}) == std::vector<Real>{5, 5, 3, 3});
  CHECK(outputs({2, 2, 2, 2}) == std::vector<Real>{5, 5, -2, -2}); // a reflection: what was there changes its sign
  CHECK(outputs({0, 0, 0, 0}) == std::vector<Real>{5, 5, 8, 8});
}

TEST_CASE("the causal convolution equals its definition", "[recurrence]") {
  std::vector<std::int32_t> numbers;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int32_t t = 0; t < 90; ++t) numbers.push_back(t / (b == 0 ? 4 : 90));
  for (const std::int64_t taps : {1, 2, 4, 7})
    for (const std::int64_t tokens : {1, 3, 4, 80})
      for (const std::int64_t channels : {1, 5, 70})
        for (const int form : {0, 1, 2, 3}) {
          const bool has_before = form % 2 == 1, has_segments = form >= 2;
          INFO(fmt::format("{} taps, {} tokens, {} channels, form {}", taps, tokens, channels, form));
          Operand x({2, tokens, channels}, 1), w({channels, taps}, 2), bias({channels}, 3),
              before({2, taps - 1, channels}, 4);
          const std::int64_t first = has_before ? 10 : 0;
          Tape tape;
          const Tensor b = bias.on(tape);
          const ConvolutionStart start{has_before ? tape.constant(before.values.data(), before.shape) : Tensor{},
                                       {has_segments ? numbers.data() : nullptr, 90},
                                       first};
          const Tensor y = causal_convolution(x.on(tape), w.on(tape), &b, start);
          std::vector<double> wanted;
          for (std::int64_t i = 0; i < 2; ++i)
            for (std::int64_t t = 0; t < tokens; ++t)
              for (std::int64_t c = 0; c < channels; ++c) {
                auto sum = static_cast<double>(bias.values[static_cast<std::size_t>(c)]);
                for (std::int64_t s = 0; s < taps; ++s) {
                  const std::int64_t from = t - taps + 1 + s;
                  if (from < 0 && !has_before) continue;
                  if (has_segments && numbers[static_cast<std::size_t>(i * 90 + first + t)] !=
                                          numbers[static_cast<std::size_t>(i * 90 + first + from)])
                    continue;
                  const Real value =
                      from >= 0
                          ? x.values[static_cast<std::size_t>((i * tokens + from) * channels + c)]
                          : before.values[static_cast<std::size_t>((i * (taps - 1) + taps - 1 + from) * channels + c)];
                  sum += static_cast<double>(w.values[static_cast<std::size_t>(c * taps + s)]) *
                         static_cast<double>(value);
                }
                wanted.push_back(sum);
              }
          check_close(read(y), wanted, sizeof(Real) == 4 ? 1e-5 : 1e-13);
        }
}

TEST_CASE("the bits of the causal convolution do not depend on threads", "[recurrence]") {
  const auto outcome_of = [] {
    Operand x({3, 40, 300}, 1), w({300, 4}, 2), bias({300}, 3);
    Tape tape;
    const Tensor b = bias.on(tape), y = causal_convolution(x.on(tape), w.on(tape), &b);
    tape.backward(sum(mul(y, y)));
    return std::vector{read(y), x.gradient, w.gradient, bias.gradient};
  };
  const auto alone = outcome_of();
  const CutEverything cut(7);
  CHECK(outcome_of() == alone);
}
