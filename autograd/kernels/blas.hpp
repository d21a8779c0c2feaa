// The OpenBLAS functions that the engine calls. OpenBLAS is loaded on first use: most processes use the engine's own
// products or no products at all, and loading OpenBLAS takes a third of a process's start-up time.
#pragma once

#include <cblas.h>

namespace heed {

/// Pointers to OpenBLAS functions. A pointer is null if the installed OpenBLAS lacks the function, as builds for one
/// fixed instruction set do.
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

/// OpenBLAS, loaded and configured by prepare_blas() (gemm.hpp). Throws heed::Failed if the library cannot be loaded.
const Blas& blas();

} // namespace heed
