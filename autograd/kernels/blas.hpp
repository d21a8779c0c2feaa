// OpenBLAS's functions. The library is loaded when the first is asked for: most processes multiply by the engine's own
// products or not at all, and loading it takes a third of what it costs to start one.
#pragma once

#include <cblas.h>

namespace heed {

/// Null are those that not every OpenBLAS has: whose kernels are chosen when it is built.
struct Blas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
  decltype(&openblas_get_corename) get_corename = nullptr;
  decltype(&openblas_get_config) get_config = nullptr;
  void (*dynamic_init)() = nullptr;
  void (*dynamic_quit)() = nullptr;

  decltype(&cblas_sgemm) gemm(float) const { return sgemm; }
  decltype(&cblas_dgemm) gemm(double) const { return dgemm; }
};

/// Ready, as prepare_blas() (gemm.hpp) makes it. Throws heed::Failed where it can't be loaded.
const Blas& blas();

} // namespace heed
