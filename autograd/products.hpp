// Reports which implementation multiplies matrices: the engine's own kernels or BLAS.
#pragma once

#include "autograd/real.hpp"

#include <string>

namespace heed::HEED_REAL {

/// For manifests: "own products, 16 numbers a vector", or the description that BLAS gives of itself
/// (blas_description()).
std::string product_description();

/// Does BLAS multiply matrices? If so, it is loaded.
bool multiplies_by_blas();

} // namespace heed::HEED_REAL
