#include "autograd/shape.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

Shape::Shape(std::initializer_list<std::int64_t> extents) {
  for (std::int64_t e : extents) push_back(e);
}

void Shape::push_back(std::int64_t e) {
  if (rank == max_rank) throw Failed(fmt::format("[shape] a tensor has at most {} axes", max_rank));
  if (e < 0) throw Failed(fmt::format("[shape] an extent can't be negative: {}", e));
  ++rank;
  (*this)[rank - 1] = e;
}

Shape Shape::row_major() const {
  Shape stride = *this;
  std::int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    stride[i] = step;
    step *= (*this)[i];
  }
  return stride;
}

std::string Shape::text() const { return fmt::format("[{}]", fmt::join(extent.begin(), extent.begin() + rank, ", ")); }

bool broadcast(const Shape& a, const Shape& b, Shape& result) {
  result = a.rank >= b.rank ? a : b;
  const int low = std::min(a.rank, b.rank);
  for (int i = 1; i <= low; ++i) {
    const std::int64_t x = a[-i], y = b[-i];
    if (x != y && x != 1 && y != 1) return false;
    result[-i] = x == 1 ? y : x;
  }
  return true;
}

} // namespace heed
