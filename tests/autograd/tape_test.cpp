// The contract of the tape: gradients accumulate; a rewound step holds no memory and makes no heap allocation; values
// and gradients that are not finite are traced to their operation.
#include "autograd/operation_count.hpp"
#include "autograd/pages.hpp"
#include "autograd/parameters.hpp"
#include "autograd/recompute.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/autograd/heap.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// A small training step with most of the operations: attention on a split projection, residual connections, norms, a
// loss.
Real transformer_step(Tape& tape, std::vector<Operand>& parameters, const std::vector<std::int32_t>& tokens) {
  const auto rows = static_cast<std::int64_t>(tokens.size()) / 8;
  std::vector<Tensor> p;
  p.reserve(8);
  for (Operand& operand : parameters) p.push_back(operand.on(tape));
  const Tensor x = dropout(embedding(p[0], tokens.data(), {rows, 8}), 0.1, {1, Stream::dropout, 0}, 0);
  const Tensor all = linear(layer_norm(x, p[1], &p[2]), p[3]);
  const auto heads = [&](int part) { return transpose(reshape(slice(all, -1, 12 * part, 12), {rows, 8, 3, 4}), 1, 2); };
  const Tensor weights = masked_softmax(scale(matmul(heads(0), transpose(heads(1))), Real(0.5)), {.causal = true});
  const Tensor y = add(x, reshape(transpose(matmul(weights, heads(2)), 1, 2), {rows, 8, 12}));
  const Tensor z = add(y, linear(gelu(linear(rms_norm(y, p[1]), p[4], p[5])), p[6]));
  const Tensor loss = cross_entropy(linear(z, p[0]), tokens.data());
  tape.backward(loss);
  const Real value = loss.item();
  tape.rewind();
  return value;
}

std::vector<Operand> transformer_parameters() {
  std::vector<Operand> out;
  std::uint64_t seed = 0;
  for (const Shape& shape : std::vector<Shape>{{11, 12}, {12}, {12}, {36, 12}, {48, 12}, {48}, {12, 48}})
    out.emplace_back(shape, ++seed, Domain{-0.5, 0.5});
  return out;
}

std::vector<std::int32_t> some_tokens(std::int64_t n) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<std::int32_t>(i * i % 11));
  return out;
}

} // namespace

TEST_CASE("the derivative of w w is 2 w, in memory that held something else", "[tape]") {
  Tape tape;
  Operand w({3}, {1, -2, 3});
  w.gradient = {9, 9, 9};
  const Tensor t = w.on(tape);
  CHECK(Tape::untouched(t));
  tape.backward(sum(mul(t, t)));
  CHECK_FALSE(Tape::untouched(t));
  CHECK(w.gradient == std::vector<Real>{2, -4, 6});
}

TEST_CASE("gradients of several uses add up, and the seed multiplies them", "[tape]") {
  Tape tape;
  Operand w({2}, {3, 5});
  const Tensor t = w.on(tape);
  // 4 w + w^2 + (the second element)
  const Tensor y = add(sum(scale(t, 4)), add(sum(mul(t, t)), reshape(slice(t, 0, 1, 1), {1})));
  tape.backward(y, 10);
  CHECK(w.gradient == std::vector<Real>{100, 150});
}

TEST_CASE("a step starts from nothing: gradients don't add up over rewinds", "[tape]") {
  Tape tape;
  Operand w({2}, {3, 5});
  for (int step = 0; step < 3; ++step) {
    const Tensor t = w.on(tape);
    tape.backward(sum(mul(t, t)));
    CHECK(w.gradient == std::vector<Real>{6, 10});
    tape.rewind();
    CHECK(tape.nodes() == 0);
    CHECK(tape.arena().used() == 0);
  }
}

TEST_CASE("a leaf that the loss does not depend on is untouched, and its memory left alone", "[tape]") {
  Tape tape;
  Operand w({2}, {3, 5}), other({2}, {1, 1});
  other.gradient = {7, 7};
  const Tensor t = w.on(tape), unused = other.on(tape);
  const Tensor aside = exp(unused);
  tape.backward(sum(t));
  CHECK(Tape::untouched(unused));
  CHECK(other.gradient == std::vector<Real>{7, 7});
  CHECK(read(aside)[0] == Approx(std::exp(1.0)));
}

TEST_CASE("constants and copies take no gradient, and only what depends on a leaf is recorded", "[tape]") {
  Tape tape;
  const std::vector<Real> numbers = {1, 2};
  Operand w({2}, {3, 5});
  const Tensor c = tape.constant(numbers.data(), {2}), d = tape.copy(numbers.data(), {2});
  CHECK(c.data == numbers.data());
  CHECK(d.data != numbers.data());
  CHECK(read(d) == numbers);
  CHECK(read(tape.zeros({3})) == std::vector<Real>{0, 0, 0});
  const Tensor known = exp(mul(c, d));
  CHECK(tape.nodes() == 0);
  tape.backward(sum(mul(known, w.on(tape))));
  CHECK(tape.nodes() == 2);
  CHECK(distance(w.gradient, std::vector<double>{std::exp(1.0), std::exp(4.0)}) < 10 * rounding);
}

TEST_CASE("a gradient passes a chain of 100,000 operations", "[tape]") {
  Tape tape;
  Operand w({1}, std::vector<Real>{1});
  Tensor x = w.on(tape);
  for (int i = 0; i < 100'000; ++i) x = scale(x, -1);
  tape.backward(x);
  CHECK(w.gradient == std::vector<Real>{1});
}

TEST_CASE("without recording, operations only compute", "[tape]") {
  Tape tape;
  tape.record(false);
  Operand w({2}, {3, 5});
  w.gradient = {7, 7};
  const Tensor loss = sum(mul(w.on(tape), w.on(tape)));
  CHECK(loss.item() == 34);
  CHECK(tape.nodes() == 0);
  tape.backward(loss);
  CHECK(w.gradient == std::vector<Real>{7, 7});
  tape.rewind();
  tape.record(true);
  CHECK(tape.recording());
  tape.backward(sum(w.on(tape)));
  CHECK(w.gradient == std::vector<Real>{1, 1});
  tape.rewind();
  const Tensor t = w.on(tape);
  tape.record(false);
  exp(t);
  CHECK(tape.nodes() == 0);
}

TEST_CASE("from the third step on, a training step takes nothing from the heap", "[tape]") {
  Tape tape;
  std::vector<Operand> parameters = transformer_parameters();
  const std::vector<std::int32_t> tokens = some_tokens(64);
  transformer_step(tape, parameters, tokens);
  transformer_step(tape, parameters, tokens);
  const std::size_t capacity = tape.arena().capacity();
  // `transformer_step` makes one allocation itself: the vector of its leaves.
  const std::int64_t own = 1;
  for (int step = 0; step < 3; ++step) {
    const std::int64_t before = heap_calls();
    transformer_step(tape, parameters, tokens);
    CHECK(heap_calls() - before == own);
  }
  CHECK(tape.arena().capacity() == capacity);
  // A shorter batch also fits.
  const std::vector<std::int32_t> fewer = some_tokens(24);
  const std::int64_t before = heap_calls();
  transformer_step(tape, parameters, fewer);
  CHECK(heap_calls() - before == own);
}

TEST_CASE("a step on a used tape gives the same bits as on a fresh one", "[tape]") {
  const std::vector<std::int32_t> tokens = some_tokens(40), others = some_tokens(64);
  std::vector<Operand> fresh = transformer_parameters(), used = fresh;
  Tape first, second;
  const Real expected = transformer_step(first, fresh, tokens);
  for (int step = 0; step < 3; ++step) transformer_step(second, used, others);
  CHECK(transformer_step(second, used, tokens) == expected);
  for (std::size_t i = 0; i < fresh.size(); ++i) CHECK(used[i].gradient == fresh[i].gradient);
}

TEST_CASE("anomaly detection names the operation that first made a NaN", "[tape]") {
  Tape tape;
  Operand x({3}, {1, -1, 2});
  CHECK_NOTHROW(sum(exp(log(x.on(tape)))));
  tape.detect_anomaly(true);
  CHECK_THROWS_AS(exp(log(x.on(tape))), Failed);
  CHECK_THROWS_WITH(exp(log(x.on(tape))), "[log] the result has a NaN at element 1 of 3");
  Operand large({2}, {1, 10000});
  CHECK_THROWS_WITH(log(exp(large.on(tape))), "[exp] the result has an infinite value at element 1 of 2");
  tape.detect_anomaly(false);
  CHECK_NOTHROW(exp(log(x.on(tape))));
}

TEST_CASE("anomaly detection names the operation whose gradient first was not finite", "[tape]") {
  Tape tape;
  tape.detect_anomaly(true);
  // log is finite at a denormal number, but its derivative is not.
  Operand x({2}, {1, std::numeric_limits<Real>::denorm_min()});
  const Tensor loss = sum(scale(log(scale(x.on(tape), 1)), 2));
  CHECK_THROWS_WITH(tape.backward(loss), "[log] a gradient has an infinite value at element 1 of 2");
}

TEST_CASE("anomaly detection changes no bit of a step", "[tape]") {
  const std::vector<std::int32_t> tokens = some_tokens(24);
  std::vector<Operand> plain = transformer_parameters(), watched = plain;
  Tape first, second;
  second.detect_anomaly(true);
  CHECK(transformer_step(first, plain, tokens) == transformer_step(second, watched, tokens));
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(watched[i].gradient == plain[i].gradient);
}

TEST_CASE("backward needs one number of its own tape", "[tape]") {
  Tape tape, other;
  Operand x({2, 3}, 1);
  const Tensor t = x.on(tape);
  CHECK_THROWS_WITH(tape.backward(t), "[backward] the loss must have one element, it is [2, 3]");
  CHECK_THROWS_WITH(other.backward(sum(t)), "[backward] the loss is of another tape");
  CHECK_THROWS_WITH(t.item(), "[item] the tensor has 6 elements, not one: [2, 3]");
}

TEST_CASE("operands must be of one tape", "[tape]") {
  Tape tape, other;
  Operand x({2}, 1), y({2}, 2);
  CHECK_THROWS_WITH(add(x.on(tape), y.on(other)), "[add] the operands are of different tapes");
  CHECK_THROWS_WITH(add(x.on(tape), Tensor{}), "[add] an operand is empty");
}

TEST_CASE("the arena hands out whole cache lines, and becomes one block", "[tape]") {
  Arena arena;
  for (std::size_t bytes : {0UL, 1UL, 63UL, 64UL, 65UL, 1UL << 20})
    CHECK(reinterpret_cast<std::uintptr_t>(arena.take(bytes)) % 64 == 0);
  const std::size_t used = arena.used();
  CHECK(used == 64 * 4 + 128 + (1 << 20));
  arena.rewind();
  CHECK(arena.used() == 0);
  CHECK(arena.peak() == used);
  CHECK(arena.capacity() == used);
  const auto* first = static_cast<std::byte*>(arena.take(64));
  CHECK(static_cast<std::byte*>(arena.take(64)) == first + 64);
  arena.rewind();
  arena.reserve(1 << 22);
  const std::int64_t before = heap_calls();
  arena.take(1 << 22);
  CHECK(heap_calls() == before);
}

TEST_CASE("the arena forgets what was taken since a mark, and the next rewind makes room for the most", "[tape]") {
  Arena arena;
  arena.take(1000);
  const Arena::Mark mark = arena.mark();
  const std::size_t before = arena.used();
  for (int i = 0; i < 3; ++i) {
    arena.take(1 << 20);
    arena.take(1 << 21);
    arena.release(mark);
    CHECK(arena.used() == before);
  }
  CHECK(arena.peak() == before + (1 << 20) + (1 << 21));
  auto* kept = static_cast<std::byte*>(arena.take(64));
  arena.release(mark);
  CHECK(static_cast<std::byte*>(arena.take(64)) == kept);
  arena.rewind();
  CHECK(arena.capacity() == arena.peak());
  const std::int64_t calls = heap_calls();
  arena.take(1000);
  const Arena::Mark again = arena.mark();
  arena.take(1 << 20);
  arena.take(1 << 21);
  arena.release(again);
  CHECK(heap_calls() == calls);
}

TEST_CASE("what is transient gives its memory up, leaves stay, and nothing that is recorded may be", "[tape]") {
  Tape tape;
  CHECK_THROWS_WITH(Tape::ArenaScope(tape), Catch::Contains("can't be given up before the step's end"));
  tape.record(false);
  Operand x({100, 4}, 1);
  const Tensor y = tape.make({100, 4});
  Tensor leaf;
  std::size_t used = 0;
  for (int i = 0; i < 3; ++i) {
    {
      const Tape::ArenaScope outer(tape);
      const Tensor once = tanh(i == 0 ? leaf = x.on(tape) : leaf);
      const Tensor result = tape.make({100, 4});
      {
        const Tape::ArenaScope inner(tape);
        put_into(result, tanh(once));
      }
      put_into(y, result);
    }
    if (i == 0) used = tape.arena().used();
    CHECK(tape.arena().used() == used);
  }
  for (std::size_t i = 0; i < x.values.size(); ++i)
    CHECK(y.data[i] == Approx(std::tanh(std::tanh(x.values[i]))).margin(1e-6));
  CHECK_THROWS_WITH(put_into(y, leaf.tape->make({4, 100})), Catch::Contains("[4, 100] does not fit into [100, 4]"));
}

TEST_CASE("within a limit no more pages are taken than it says, and what is given back can be taken again", "[tape]") {
  constexpr std::size_t two = 2 << 20;
  void* before = take_pages(two);
  {
    const PageLimit limit(3 << 20);
    void* first = take_pages(two);
    CHECK_THROWS_AS(take_pages(two), std::bad_alloc);
    give_back_pages(first, two);
    first = take_pages(two);
    Tape tape;
    CHECK_THROWS_AS(tape.zeros({1 << 20}), std::bad_alloc);
    give_back_pages(first, two);
  }
  void* after = take_pages(two);
  give_back_pages(after, two);
  give_back_pages(before, two);
}

TEST_CASE("unwritten pages are zeros, and take memory where they are written to", "[tape]") {
  constexpr std::size_t bytes = std::size_t{1} << 28, step = std::size_t{1} << 24;
  const std::int64_t before = resident_bytes();
  const UnwrittenPages unwritten;
  for (int i = 0; i < 2; ++i) { // the second time, pages that were written to must not be returned again
    auto* memory = static_cast<char*>(take_pages(bytes));
    for (std::size_t at = 0; at < bytes; at += step) {
      CHECK(memory[at] == 0);
      memory[at] = 1;
    }
    if (before > 0) CHECK(resident_bytes() - before < static_cast<std::int64_t>(bytes) / 8);
    give_back_pages(memory, bytes);
    auto* few = static_cast<char*>(take_pages(100));
    CHECK(std::count(few, few + 100, 0) == 100);
    std::fill_n(few, 100, 1);
    give_back_pages(few, 100);
  }
  const PagedVector<double> zeros(1 << 18);
  CHECK(std::ranges::all_of(zeros, [](double x) { return x == 0; }));
}

TEST_CASE("a step that is only counted has its operations and its memory, and writes to little of it", "[tape]") {
  constexpr std::int64_t rows = 32768, width = 64;
  const auto loss_of = [&](Tape& tape, Real* parameters, Real* gradients, const std::vector<std::int32_t>& targets) {
    const Tensor w = tape.leaf(parameters, gradients, {width, width});
    const Tensor g = tape.leaf(parameters + width * width, gradients + width * width, {width});
    const Tensor x = embedding(w, targets.data(), {rows});
    const Tensor h = layer_norm(add(x, gelu(linear(x, w, g))), g, &g, Real(1e-5));
    const Tensor p = softmax(scale(mul(h, sigmoid(h)), 2, 1));
    const Tensor m = matmul(concat({slice(p, 0, 0, rows / 2), slice(rms_norm(h, g, Real(1e-5)), 0, 0, rows / 2)}, 0),
                            w);
    return cross_entropy(m, targets.data());
  };
  std::vector<Real> parameters(width * width + width, Real(0.01)), gradients(parameters.size());
  std::vector<std::int32_t> targets(rows);
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<std::int32_t>(i % width);
  const auto taken = [&](bool only_counted) {
    std::optional<UnwrittenPages> pages;
    std::optional<CountingOnly> counting;
    if (only_counted) {
      pages.emplace();
      counting.emplace();
    }
    Tape tape;
    const double before = counted_operations();
    const std::int64_t resident = resident_bytes();
    tape.backward(loss_of(tape, parameters.data(), gradients.data(), targets));
    if (only_counted && resident > 0) CHECK(resident_bytes() - resident < static_cast<std::int64_t>(tape.peak()) / 10);
    return std::pair(counted_operations() - before, tape.peak());
  };
  const auto counted = taken(true), worked_out = taken(false);
  CHECK(counted == worked_out);
  // Two products, once forward and twice backward.
  CHECK(counted.first == 2 * 3 * 2.0 * rows * width * width);
  CHECK(counted.second > 100'000'000);
}

TEST_CASE("parameters that are added take no memory before their numbers are asked for", "[tape]") {
  Parameters parameters;
  const PageLimit limit(1 << 20);
  parameters.add("weight", {1 << 10, 1 << 10}, Init::normal(1));
  CHECK(parameters.count() == 1 << 20);
  CHECK_THROWS_AS(parameters.initialise(1), std::bad_alloc);
}
