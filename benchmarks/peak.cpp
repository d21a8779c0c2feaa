#include "autograd/kernels/gemm.hpp"
#include "autograd/shards.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"

#include <vector>

namespace heed::bench {

void measure_peak(int threads) {
  constexpr std::int64_t rows = 384, columns = 384, inner = 128;
  constexpr int calls = 200;
  prepare_blas();
  struct Product {
    std::vector<float> a = std::vector<float>(rows * inner, 0.5F), b = std::vector<float>(inner * columns, 0.25F),
                       c = std::vector<float>(rows * columns);
  };
  std::vector<Product> products(static_cast<std::size_t>(threads));
  Workers workers(threads);
  const double flops = 2.0 * rows * columns * inner * calls * threads;
  serve_rounds({{"flops", flops}}, 2, [&] {
    workers.run(threads, [&](int job, int) {
      Product& p = products[static_cast<std::size_t>(job)];
      for (int i = 0; i < calls; ++i)
        HEED_REAL::blas_gemm(HEED_REAL::row_major(p.a.data(), rows, inner),
                             HEED_REAL::row_major(p.b.data(), inner, columns),
                             HEED_REAL::row_major(p.c.data(), rows, columns));
    });
  });
}

} // namespace heed::bench
