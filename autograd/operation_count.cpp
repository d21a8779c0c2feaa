#include "autograd/operation_count.hpp"

#include <utility>

namespace heed::HEED_REAL {

namespace {

thread_local double operations = 0;
thread_local bool only = false;

} // namespace

double counted_operations() { return operations; }
void count_operations(double more) { operations += more; }

CountingOnly::CountingOnly() : before_(std::exchange(only, true)) {}
CountingOnly::~CountingOnly() { only = before_; }
bool counting_only() { return only; }

} // namespace heed::HEED_REAL
