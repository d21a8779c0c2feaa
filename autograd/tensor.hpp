// Tensor: a trivial value with a shape and strides that points into a tape's memory.
#pragma once

#include "autograd/real.hpp"
#include "autograd/shape.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

class Tape;

/// The memory of a tensor, shared by all its views: one value and one gradient.
struct Slot {
  Real* value = nullptr;
  Real* grad = nullptr;       ///< null until the first contribution
  std::int64_t size = 0;      ///< elements
  bool requires_grad = false; ///< is its gradient computed? True for leaves and for everything that depends on one
  bool written = false;       ///< has the gradient received its first contribution?
  bool owned = false;         ///< does the tape own the gradient's memory, so that it can be recycled?
  bool nested = false;        ///< was it made in a Tape::NestedTape, so that it ends with it?
};

/// Shape and strides over a slot. Copying a Tensor does not copy its values. It is valid until its tape is rewound.
struct Tensor {
  Tape* tape = nullptr;
  Real* data = nullptr;
  Slot* slot = nullptr;
  Shape shape;
  Shape stride; ///< in elements

  std::int64_t size() const { return shape.size(); }
  int rank() const { return shape.rank; }
  bool contiguous() const;
  /// The value of a tensor with one element.
  Real item() const;
};

/// The memory that a gradient is written to. With `overwrite`, the caller stores, because there is no gradient yet;
/// otherwise it adds. Null: no gradient is required.
struct GradTarget {
  Real* p = nullptr;
  bool overwrite = false; ///< there is no gradient yet: store, do not add
  explicit operator bool() const { return p != nullptr; }
};

} // namespace heed::HEED_REAL
