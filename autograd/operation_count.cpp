#include "autograd/operation_count.hpp"

namespace heed::HEED_REAL {

namespace {

thread_local double operations = 0;

} // namespace

double counted_operations() { return operations; }
void count_operations(double more) { operations += more; }

} // namespace heed::HEED_REAL
