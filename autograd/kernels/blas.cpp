#include "autograd/kernels/gemm.hpp"

#include <cblas.h>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <string_view>

// Exported by every OpenBLAS that chooses its kernels at run time (DYNAMIC_ARCH); weak, so that others link as well.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace heed {

namespace {

// Kernels that OpenBLAS falls back to for a CPU it does not know, or that leave most of a newer one unused.
bool far_below(std::string_view core, bool avx512) {
  for (std::string_view slow : {"Prescott", "Core2", "Nehalem", "Sandybridge", "Generic", "Barcelona"})
    if (core == slow) return true;
  return avx512 && core == "Haswell";
}

void choose_kernels() {
  openblas_set_num_threads(1);
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE") || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (!avx2 || !far_below(openblas_get_corename(), avx512)) return;
  setenv("OPENBLAS_CORETYPE", avx512 ? "SKYLAKEX" : "HASWELL", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv("OPENBLAS_CORETYPE");
#endif
}

} // namespace

void prepare_blas() {
  static std::once_flag once;
  std::call_once(once, choose_kernels);
}

std::string blas_description() {
  prepare_blas();
  const std::string_view config = openblas_get_config();
  return fmt::format("{} {}", config.substr(0, config.find(' ', config.find(' ') + 1)), openblas_get_corename());
}

} // namespace heed
