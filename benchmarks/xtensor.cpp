// Measures the cost of operations as xtensor expressions: compares two forward operations of the engine with the same
// formulas in xtensor, on one thread and with the same values. docs/decisions/10-xtensor.md has the results.
//
//   build/benchmarks/bench_xtensor --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true
//
// The xtensor code uses arrays of fixed rank, immediate reductions, assignment without temporaries, and computes each
// exponential once.
#include "autograd/ops.hpp"
#include "autograd/xtensor.hpp"

#include <benchmark/benchmark.h>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>

namespace {

using namespace heed;
using namespace heed::f32;

using Matrix = xt::xtensor<float, 2>;

constexpr std::size_t rows = 384;
const auto at_once = xt::keep_dims | xt::evaluation_strategy::immediate;

Matrix numbers(std::size_t columns) {
  Matrix out = Matrix::from_shape({rows, columns});
  RandomSource random({1, Stream::test, 0});
  for (float& x : out) x = static_cast<float>(4 * random.uniform() - 2);
  return out;
}

template <class F> void engine(benchmark::State& state, const F& f) {
  const Matrix x = numbers(static_cast<std::size_t>(state.range(0)));
  Tape tape;
  tape.record(false);
  for (auto _ : state) {
    tape.rewind();
    benchmark::DoNotOptimize(f(tape, tape.constant(x.data(), {rows, state.range(0)})).data);
    benchmark::ClobberMemory();
  }
}

template <class F> void expression(benchmark::State& state, const F& f) {
  const Matrix x = numbers(static_cast<std::size_t>(state.range(0)));
  Matrix y = xt::zeros_like(x);
  for (auto _ : state) {
    f(x, y);
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
}

void softmax_engine(benchmark::State& state) {
  engine(state, [](Tape&, const Tensor& x) { return softmax(x); });
}

void softmax_xtensor(benchmark::State& state) {
  expression(state, [](const Matrix& x, Matrix& y) {
    xt::noalias(y) = xt::exp(x - xt::amax(x, {1}, at_once));
    y /= xt::sum(y, {1}, at_once);
  });
}

void layer_norm_engine(benchmark::State& state) {
  const auto columns = static_cast<std::size_t>(state.range(0));
  const std::vector<float> gain(columns, 1.0F);
  engine(state, [&](Tape& tape, const Tensor& x) {
    return layer_norm(x, tape.constant(gain.data(), {state.range(0)}), nullptr);
  });
}

void layer_norm_xtensor(benchmark::State& state) {
  const xt::xtensor<float, 1> gain = xt::ones<float>({static_cast<std::size_t>(state.range(0))});
  expression(state, [&](const Matrix& x, Matrix& y) {
    xt::noalias(y) = x - xt::mean(x, {1}, at_once);
    const Matrix variance = xt::mean(xt::square(y), {1}, at_once);
    y *= gain / xt::sqrt(variance + 1e-5F);
  });
}

const auto* const registered = [] {
  using benchmark::RegisterBenchmark;
  const auto add = [](const char* name, void (*f)(benchmark::State&)) {
    return RegisterBenchmark(name, f)->ArgName("columns")->Arg(128)->Arg(1024);
  };
  add("softmax, engine", softmax_engine);
  add("softmax, xtensor", softmax_xtensor);
  add("layer_norm, engine", layer_norm_engine);
  return add("layer_norm, xtensor", layer_norm_xtensor);
}();

} // namespace

BENCHMARK_MAIN();
