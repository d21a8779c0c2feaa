// Who multiplies matrices.
#pragma once

#include "autograd/real.hpp"

#include <string>

namespace heed::HEED_REAL {

/// For manifests: "own products, 16 numbers a vector", or what BLAS says of itself (blas_description()).
std::string product_description();

} // namespace heed::HEED_REAL
