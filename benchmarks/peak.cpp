#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/micro_kernel.hpp"
#include "autograd/thread_pool.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

namespace heed::bench {

namespace {

using HEED_REAL::lanes;
using HEED_REAL::Simd;

// One thread's work for one repetition.
using Work = std::function<void()>;

// sgemm of [384, 128] by [128, 384], with OpenBLAS's kernels for this program's vectors, whatever OPENBLAS_CORETYPE
// says.
Work products() {
  constexpr std::int64_t rows = 384, columns = 384, inner = 128;
  constexpr int calls = 200;
  struct Product {
    std::vector<float> a = std::vector<float>(rows * inner, 0.5F), b = std::vector<float>(inner * columns, 0.25F),
                       c = std::vector<float>(rows * columns);
  };
  return [p = Product()]() mutable {
    for (int i = 0; i < calls; ++i)
      HEED_REAL::blas_gemm(HEED_REAL::row_major(p.a.data(), rows, inner),
                           HEED_REAL::row_major(p.b.data(), inner, columns),
                           HEED_REAL::row_major(p.c.data(), rows, columns));
  };
}
constexpr double product_flops = 2.0 * 384 * 384 * 128 * 200;

// Fused multiply-adds that stay in registers: more independent sums than a CPU starts before the first has its result.
constexpr int sums = 12, repetitions = 1 << 20;
void multiply_and_add() {
  Simd sum[sums];
  for (Simd& s : sum) s = Simd(0.5F);
  const Simd factor(0.999F), term(0.001F);
  // Unrolled by hand, because GCC keeps the sums of a plain loop in memory.
  for (int i = 0; i < repetitions; ++i)
    HEED_REAL::detail::unrolled<sums>([&](auto n) { sum[n] = xsimd::fma(sum[n], factor, term); });
  Simd total = sum[0];
  for (int i = 1; i < sums; ++i) total += sum[i];
  volatile float result = HEED_REAL::lane_sum(total);
  static_cast<void>(result);
}
constexpr double fma_flops = 2.0 * sums * repetitions * lanes;

double seconds_of(const Work& work) {
  using Clock = std::chrono::steady_clock;
  double least = 1e9;
  for (int i = 0; i < 4; ++i) {
    const auto begin = Clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return least;
}

} // namespace

void measure_peak(int threads) {
  if (sizeof(float) * lanes >= 32) ::setenv("OPENBLAS_CORETYPE", lanes == 16 ? "SKYLAKEX" : "HASWELL", 1);
  prepare_blas();
  std::vector<Work> of_threads;
  for (int i = 0; i < threads; ++i) of_threads.push_back(products());
  const double by_products = product_flops / seconds_of(of_threads.front()),
               by_registers = fma_flops / seconds_of(multiply_and_add);
  double flops = product_flops;
  std::string what = fmt::format("sgemm of {}", blas_description());
  if (by_registers > by_products) {
    flops = fma_flops;
    what = "fused multiply-adds in registers";
    std::ranges::fill(of_threads, multiply_and_add);
  }
  ThreadPool workers(threads);
  serve_rounds({{"flops", flops * threads},
                {"peak", what},
                {"sgemm_gflops", by_products / 1e9},
                {"fma_gflops", by_registers / 1e9}},
               2, [&] { workers.run(threads, [&](int job, int) { of_threads[static_cast<std::size_t>(job)](); }); });
}

} // namespace heed::bench
