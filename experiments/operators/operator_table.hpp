// The operators of one precision and instruction set, for its engine table.
#pragma once

#include "autograd/real.hpp"
#include "experiments/operators/attention_operator.hpp"
#include "experiments/operators/recurrence_operator.hpp"

#include <memory>

namespace heed::HEED_REAL {

/// The operator of the configuration's first block. Throws heed::Refused or heed::Failed if the options and the sizes
/// do not fit together.
std::unique_ptr<AttentionOperator> make_attention_operator(const Config& config, const OperatorSizes& sizes);

/// See RecurrenceOperator.
std::unique_ptr<OperatorState> recurrence_forward(const RecurrenceCall& call, const RecurrenceArrays& to);
void recurrence_backward(const RecurrenceCall& call, std::unique_ptr<OperatorState> state, const RecurrenceArrays& of,
                         const std::vector<void*>& gradients);

} // namespace heed::HEED_REAL
