// The machine that runs run on, and the program that runs them: what a manifest records.
#pragma once

#include <string>

namespace heed {

struct Machine {
  std::string host;
  std::string cpu;             ///< the model, as the system names it
  int cores = 1;               ///< that this process may use
  double memory = 0;           ///< bytes that can be had without swapping, a container's limit respected
};
Machine this_machine();

/// What the build knows of itself.
struct Build {
  std::string version;         ///< Heed's
  std::string compiler;
  std::string flags;           ///< of the compiler
  std::string blas;            ///< the library's own description of its build and its core
};

/// The compiler that this was compiled with: "gcc 12.2.0", "clang 14.0.6".
std::string compiler_name();

} // namespace heed
