// A tensor: a trivial value that points into a tape.
#pragma once

#include "autograd/real.hpp"
#include "autograd/shape.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

class Tape;

/// The memory behind a tensor and all views of it: one value, one gradient.
struct Slot {
  Real* value = nullptr;
  Real* grad = nullptr;       ///< null until somebody adds to it
  std::int64_t size = 0;      ///< elements
  bool requires_grad = false; ///< is its gradient computed? That of a leaf, and of all that depends on one.
  bool written = false;       ///< has the gradient its first contribution?
  bool owned = false;         ///< is the gradient's memory the tape's, to be recycled?
  bool nested = false;        ///< was it made in a Tape::NestedTape, so that it ends with it?
};

/// Shape and strides over a slot. Copying it copies no numbers; it is valid until its tape is rewound.
struct Tensor {
  Tape* tape = nullptr;
  Real* data = nullptr;
  Slot* slot = nullptr;
  Shape shape;
  Shape stride; ///< in elements

  std::int64_t size() const { return shape.size(); }
  int rank() const { return shape.rank; }
  bool contiguous() const;
  /// The number of a tensor that has one element.
  Real item() const;
};

/// Where a gradient goes. `first`: store, since nothing is there yet; otherwise add. Null where none is required.
struct GradTarget {
  Real* p = nullptr;
  bool overwrite = false; ///< nothing is there yet: store, do not add
  explicit operator bool() const { return p != nullptr; }
};

} // namespace heed::HEED_REAL
