// Shape: the extents of a tensor, and broadcasting of shapes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace heed {

/// Up to six extents, outermost first; rank 0 is a scalar. The type is trivial, so it can be stored in closures and in
/// the arena.
struct Shape {
  static constexpr int max_rank = 6;
  int rank = 0;
  std::array<std::int64_t, max_rank> extent{};

  Shape() = default;
  /// Throws heed::Failed for more than six extents or for a negative one.
  Shape(std::initializer_list<std::int64_t> extents);

  /// The extent of an axis; negative axes count from the end (-1: the last).
  std::int64_t operator[](int axis) const { return extent[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)]; }
  std::int64_t& operator[](int axis) { return extent[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)]; }

  /// Number of elements: the product of the extents, 1 for a scalar.
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= (*this)[i];
    return n;
  }

  /// Appends an axis. Throws heed::Failed if there are already six.
  void push_back(std::int64_t extent);

  /// The row-major strides, in elements.
  Shape row_major() const;

  /// A text such as "[2, 4, 16]".
  std::string text() const;

  bool operator==(const Shape& other) const {
    if (rank != other.rank) return false;
    for (int i = 0; i < rank; ++i)
      if ((*this)[i] != other[i]) return false;
    return true;
  }
};

/// The shape that `a` and `b` broadcast to (aligned at the last axis; an extent of 1 stretches). Returns false if they
/// are incompatible.
bool broadcast(const Shape& a, const Shape& b, Shape& result);

} // namespace heed
