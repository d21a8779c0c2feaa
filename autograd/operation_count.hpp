// The count of operations that FLOPs are stated by.
#pragma once

#include "autograd/real.hpp"

namespace heed::HEED_REAL {

/// Multiplications and additions on this thread so far, of products (2 m n k each) and of attention (of the pairs that
/// may attend, each score and weighted value once forward and twice backward, whatever a kernel computes anew).
double counted_operations();
void count_operations(double operations);

} // namespace heed::HEED_REAL
