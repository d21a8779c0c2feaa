// The count of operations that FLOPs are stated by.
#pragma once

#include "autograd/real.hpp"

namespace heed::HEED_REAL {

/// Multiplications and additions on this thread so far, of products (2 m n k each) and of attention (of the pairs that
/// may attend, each score and weighted value once forward and twice backward, whatever a kernel computes anew).
double counted_operations();
void count_operations(double operations);

/// While one lives, operations on this thread are counted, and take their memory on the tape, but are not worked out:
/// what a model costs follows from its shapes. Their results are whatever stood in that memory: zeros, where the tape is
/// new and there are UnwrittenPages (autograd/pages.hpp).
class CountingOnly {
public:
  CountingOnly();
  ~CountingOnly();
  CountingOnly(const CountingOnly&) = delete;
  CountingOnly& operator=(const CountingOnly&) = delete;

private:
  bool before_;
};
bool counting_only();

} // namespace heed::HEED_REAL
