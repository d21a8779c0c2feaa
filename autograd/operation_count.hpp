// Counts the multiplications and additions from which FLOPs are reported.
#pragma once

#include "autograd/real.hpp"

namespace heed::HEED_REAL {

/// The number of multiplications and additions on this thread so far, of matrix products (2 m n k each) and of
/// attention. Attention counts only the pairs that may attend. Each score and each weighted value counts once forward
/// and twice backward; recomputation in a kernel does not count.
double counted_operations();
void count_operations(double operations);

/// Operations on this thread while an object exists are not counted: the caller counts them itself.
class UncountedOperations {
public:
  UncountedOperations() : before_(counted_operations()) {}
  ~UncountedOperations() { count_operations(before_ - counted_operations()); }
  UncountedOperations(const UncountedOperations&) = delete;
  UncountedOperations& operator=(const UncountedOperations&) = delete;

private:
  double before_;
};

/// While an object exists, operations on this thread are counted and take their memory on the tape, but are not
/// computed, because the cost of a model follows from its shapes. Their results are whatever the memory contained:
/// zeros if the tape is new and there are UnwrittenPages (autograd/pages.hpp).
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
