// The configuration of an operator, from the texts that another framework gives.
#pragma once

#include "experiments/operators/attention_operator.hpp"

#include <string>
#include <vector>

namespace heed {

/// Assignments such as "attention.score=additive".
struct OperatorOptions {
  std::string precision = "float32";    ///< of the caller's arrays
  std::vector<std::string> arguments{}; ///< what the call's own arguments choose
  std::vector<std::string> further{};   ///< what the caller adds by the names of a configuration
};

/// The configuration for `make_attention_operator`. The sizes of a model are those of `sizes`. Throws heed::Refused for
/// an unknown name, a wrong value, and a further option that an argument sets or that this kind of operator does not
/// use.
Config operator_config(const OperatorOptions& options, const OperatorSizes& sizes);

} // namespace heed
