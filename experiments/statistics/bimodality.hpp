// Detects bimodal outcomes: some seeds learn and others do not, so the values fall into two modes.
#pragma once

#include <optional>
#include <span>

namespace heed::statistics {

/// The middle of the gap between two modes. Empty if there is one mode, or with fewer than 6 values. There are two
/// modes if the widest gap between neighbouring values is at least three times as wide as the range of the values on
/// either side of it. False positives for normal samples: 2.2 % with 6 values, 0.3 % with 8, 0.01 % with 10.
std::optional<double> gap_between_modes(std::span<const double> values);

} // namespace heed::statistics
