// What an operator refuses before it reads or writes the caller's memory.
#pragma once

#include "autograd/real.hpp"
#include "experiments/operators/attention_operator.hpp"

namespace heed::HEED_REAL {

/// Throws heed::Refused if a size is below 1 or larger than that of any model.
void check(const OperatorSizes& sizes);

/// Throws heed::Refused unless arrays, lengths, mask and bias fit the operator and each other. `y`: the result, or its
/// gradient.
void check(const OperatorSizes& sizes, const AttentionOperator& made, const OperatorCall& call, const StridedArray& y);

} // namespace heed::HEED_REAL
