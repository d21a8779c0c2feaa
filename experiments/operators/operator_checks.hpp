// What an operator refuses before it reads or writes the caller's memory.
#pragma once

#include "autograd/real.hpp"
#include "experiments/operators/attention_operator.hpp"

namespace heed::HEED_REAL {

/// Throws heed::Refused unless the array has this many axes, and memory and strides that are possible.
void check_array(const char* name, const StridedArray& array, int rank);
/// Throws heed::Refused unless the shapes are equal.
void check_shape(const char* name, const Shape& found, const Shape& wanted);

/// Throws heed::Refused if a size is below 1 or larger than that of any model.
void check(const OperatorSizes& sizes);

/// Throws heed::Refused unless arrays, lengths, mask and bias fit the operator and each other. `y`: the result, or its
/// gradient.
void check(const OperatorSizes& sizes, const AttentionOperator& made, const OperatorCall& call, const StridedArray& y);

} // namespace heed::HEED_REAL
