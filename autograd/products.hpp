// Who multiplies matrices.
#pragma once

#include "autograd/real.hpp"

#include <string>

namespace heed::HEED_REAL {

/// For manifests: "own products, 16 numbers a vector", or what BLAS says of itself (blas_description()).
std::string product_description();

/// BLAS multiplies, and is loaded for that.
bool multiplies_by_blas();

} // namespace heed::HEED_REAL
