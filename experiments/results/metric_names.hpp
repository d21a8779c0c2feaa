// What the name of a metric says about it: which values are better, and which are possible.
#pragma once

#include "experiments/metrics/metric.hpp"

#include <optional>
#include <string_view>

namespace heed {

/// "val/accuracy" and "macroF1": higher; "eval_loss" and "WER": lower. Empty if the name has no such word, or words of
/// both kinds.
std::optional<Direction> direction_by_name(std::string_view metric);

/// The range of possible values.
struct ValueRange {
  double low, high;
};

/// The range of a metric by its name and by the observed values, which are within it: 0 to 1 or 0 to 100 for shares and
/// scores such as accuracy, F1 and BLEU; at least 0 for losses and errors, and at least 1 for perplexities. Infinite if
/// nothing is known.
ValueRange range_by_name(std::string_view metric, double lowest, double highest);

} // namespace heed
