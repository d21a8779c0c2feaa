#include "autograd/kernels/blas.hpp"

#include "autograd/error.hpp"
#include "autograd/kernels/gemm.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string_view>
#include <type_traits>

namespace heed {

namespace {

// Is OpenBLAS's choice `core` far too slow for this CPU? True for the cores that OpenBLAS falls back to for an unknown
// CPU, and for AVX2 code on a CPU with AVX-512.
bool far_below(std::string_view core, bool avx512) {
  for (std::string_view slow : {"Prescott", "Core2", "Nehalem", "Sandybridge", "Generic", "Barcelona"})
    if (core == slow) return true;
  return avx512 && core == "Haswell";
}

// Loads OpenBLAS. The library is never unloaded.
Blas load() {
  constexpr const char* file = "libopenblas.so.0";
  // With its default, OpenBLAS starts threads as soon as it is loaded; if they get no memory, they wait for ever.
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!library) throw Failed(fmt::format("[gemm] OpenBLAS can't be loaded ({}); install it anew", dlerror()));
  Blas blas;
  const auto find = [&](auto& function, const char* name, bool needed = true) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (needed && !function) throw Failed(fmt::format("[gemm] {} has no {}; install OpenBLAS anew", file, name));
  };
  find(blas.sgemm, "cblas_sgemm");
  find(blas.dgemm, "cblas_dgemm");
  find(blas.set_num_threads, "openblas_set_num_threads");
  find(blas.get_corename, "openblas_get_corename");
  find(blas.get_config, "openblas_get_config");
  // An OpenBLAS build that chooses its instruction set at run time (DYNAMIC_ARCH) has these two functions.
  find(blas.dynamic_init, "gotoblas_dynamic_init", false);
  find(blas.dynamic_quit, "gotoblas_dynamic_quit", false);
  return blas;
}

void choose_kernels(const Blas& blas) {
  blas.set_num_threads(1);
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE") || !blas.dynamic_init || !blas.dynamic_quit) return;
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (!avx2 || !far_below(blas.get_corename(), avx512)) return;
  setenv("OPENBLAS_CORETYPE", avx512 ? "SKYLAKEX" : "HASWELL", 1);
  blas.dynamic_quit();
  blas.dynamic_init();
  unsetenv("OPENBLAS_CORETYPE");
#endif
}

} // namespace

const Blas& blas() {
  static const Blas loaded = [] {
    const Blas found = load();
    choose_kernels(found);
    return found;
  }();
  return loaded;
}

void prepare_blas() { blas(); }

std::string blas_description() {
  const std::string_view config = blas().get_config();
  return fmt::format("{} {}", config.substr(0, config.find(' ', config.find(' ') + 1)), blas().get_corename());
}

} // namespace heed
