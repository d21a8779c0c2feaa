// Microbenchmarks of single operations on one thread, with the sizes of a training step of nanoGPT's recipe (one shard:
// 384 tokens of width 128). Operations are timed forward and backward.
#include "autograd/attention.hpp"
#include "autograd/kernels/gemm.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/ops.hpp"
#include "autograd/optimizers/adam.hpp"
#include "benchmarks/recurrent.hpp"

#include <benchmark/benchmark.h>
#include <functional>

namespace {

using namespace heed;
using namespace heed::HEED_REAL;
using bench::Input;

constexpr std::int64_t tokens = 384, width = 128, vocabulary = 65;

/// Times `op`, a function of a tape, forward and backward. Unless the result is a scalar, the backward pass starts from
/// an arbitrary gradient. The rate `elements` is `elements` per second.
void forward_backward(benchmark::State& state, std::int64_t elements, const std::function<Tensor(Tape&)>& op) {
  Tape tape;
  const Input gradient(Shape{elements}, 7);
  for (auto _ : state) {
    tape.rewind();
    const Tensor y = op(tape);
    tape.backward(y.rank() == 0 ? y : bench::upstream(y, gradient.values()));
  }
  state.counters["elements"] = benchmark::Counter(static_cast<double>(elements * state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

void set_flops(benchmark::State& state, double flops) {
  state.counters["FLOPS"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

/// c [m, n] = a [m, k] b [k, n]
void gemm_of(benchmark::State& state) {
  const std::int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  prepare_blas();
  std::vector<float> a(static_cast<std::size_t>(m * k), 0.5F), b(static_cast<std::size_t>(k * n), 0.25F),
      c(static_cast<std::size_t>(m * n));
  for (auto _ : state) {
    gemm(row_major(a.data(), m, k), row_major(b.data(), k, n), row_major(c.data(), m, n));
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  set_flops(state, 2.0 * static_cast<double>(m * n * k));
}

void softmax_of(benchmark::State& state) {
  const Shape shape{tokens, state.range(0)};
  Input x(shape);
  forward_backward(state, shape.size(), [&](Tape& tape) { return softmax(x.on(tape)); });
}

void layer_norm_of(benchmark::State& state) {
  const Shape shape{tokens, width};
  Input x(shape), gain(Shape{width});
  forward_backward(state, shape.size(), [&](Tape& tape) { return layer_norm(x.on(tape), gain.on(tape), nullptr); });
}

void gelu_of(benchmark::State& state) {
  const Shape shape{tokens, 4 * width};
  Input x(shape);
  forward_backward(state, shape.size(), [&](Tape& tape) { return gelu(x.on(tape)); });
}

void dropout_of(benchmark::State& state) {
  const Shape shape{tokens, width};
  Input x(shape);
  const RandomKey key{.seed = 1, .stream = Stream::dropout, .step = 0};
  forward_backward(state, shape.size(), [&](Tape& tape) { return dropout(x.on(tape), 0.1, key, 0); });
}

std::vector<std::int32_t> token_list() {
  std::vector<std::int32_t> list(tokens);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::int32_t>(i * 31 % vocabulary);
  return list;
}

void embedding_of(benchmark::State& state) {
  Input table(Shape{vocabulary, width});
  const auto list = token_list();
  forward_backward(state, tokens * width,
                   [&](Tape& tape) { return embedding(table.on(tape), list.data(), Shape{tokens}); });
}

void cross_entropy_of(benchmark::State& state) {
  Input logits(Shape{tokens, state.range(0)});
  const auto list = token_list();
  forward_backward(state, tokens * state.range(0),
                   [&](Tape& tape) { return cross_entropy(logits.on(tape), list.data()); });
}

void adamw_of(benchmark::State& state) {
  Parameters parameters;
  parameters.add("weight", Shape{state.range(0), width}, Init::normal(0.02));
  parameters.initialise(1);
  Adam optimizer({}, parameters);
  const std::vector<float> gradients(static_cast<std::size_t>(parameters.extent()), 0.01F);
  std::int64_t step = 0;
  for (auto _ : state) optimizer.update(parameters, gradients.data(), 1e-3, 1.0, ++step);
  // Gradient, weight and two moments are read; the last three are written.
  state.SetBytesProcessed(state.iterations() * parameters.extent() * 7 * static_cast<std::int64_t>(sizeof(float)));
}

/// A recurrent layer, in one operation or step by step. Arguments: rows, steps, width (also of the inputs).
template <int gates, bench::Stepping stepping> void recurrent_of(benchmark::State& state) {
  bench::RecurrentLayer<gates> layer(state.range(0), state.range(1), state.range(2), stepping);
  forward_backward(state, layer.size(), [&](Tape& tape) { return layer.forward(tape); });
}

/// Arguments: batch entries, length, causal. Four heads of width 32.
template <bool pairwise> void attend(benchmark::State& state) {
  const Shape shape{state.range(0), 4, state.range(1), 32};
  Input q(shape, 1), k(shape, 2), v(shape, 3), w(Shape{4, 32}, 4);
  const StreamingOptions options{.mask = {.causal = state.range(2) != 0}};
  const double before = counted_operations();
  forward_backward(state, shape.size(), [&](Tape& tape) {
    if constexpr (pairwise)
      return attend_softmax(AdditiveForm{q.on(tape), k.on(tape), w.on(tape)}, v.on(tape), options);
    else return attend_softmax(DotProductForm{q.on(tape), k.on(tape), 0.17F}, v.on(tape), options);
  });
  set_flops(state, (counted_operations() - before) / static_cast<double>(state.iterations()));
}

void attention_cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"batch", "length", "causal"});
  for (const int causal : {0, 1})
    for (const auto& [batch, length] : {std::pair{16, 128}, {4, 512}, {1, 2048}}) b->Args({batch, length, causal});
}

const auto* const registered = [] {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("gemm", gemm_of)
      ->ArgNames({"m", "n", "k"})
      ->Args({384, 384, 128})
      ->Args({384, 128, 128})
      ->Args({384, 512, 128})
      ->Args({384, 128, 512})
      ->Args({1024, 768, 256});
  RegisterBenchmark("softmax", softmax_of)->ArgName("classes")->Arg(65)->Arg(1024);
  RegisterBenchmark("layer_norm", layer_norm_of);
  RegisterBenchmark("gelu", gelu_of);
  RegisterBenchmark("dropout", dropout_of);
  RegisterBenchmark("embedding", embedding_of);
  RegisterBenchmark("cross_entropy", cross_entropy_of)->ArgName("classes")->Arg(65)->Arg(1024);
  RegisterBenchmark("adamw", adamw_of)->ArgName("rows")->Arg(1024)->Arg(6400);
  const auto sizes = [](benchmark::internal::Benchmark* b) {
    b->ArgNames({"rows", "steps", "width"})->Args({32, 64, 128})->Args({16, 32, 64})->Args({32, 32, 256});
  };
  RegisterBenchmark("gru", recurrent_of<3, bench::Stepping::once>)->Apply(sizes);
  RegisterBenchmark("lstm", recurrent_of<4, bench::Stepping::once>)->Apply(sizes);
  RegisterBenchmark("gru_steps", recurrent_of<3, bench::Stepping::together>)->Apply(sizes);
  RegisterBenchmark("lstm_steps", recurrent_of<4, bench::Stepping::together>)->Apply(sizes);
  RegisterBenchmark("attend_dot_product", attend<false>)->Apply(attention_cases);
  return RegisterBenchmark("attend_additive", attend<true>)->Apply(attention_cases);
}();

} // namespace

BENCHMARK_MAIN();
