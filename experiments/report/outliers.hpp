// Outliers: values that would leave the others no room on an axis.
#pragma once

#include <vector>

namespace heed {

/// Which of these values are outliers: at most a third of them, each more than 100 times as far from the median as the
/// median distance (at least 2 % of the median). Figures on paper have no switch, so only values that are out of all
/// proportion count, such as those of diverged runs. A value that is not finite is an outlier.
std::vector<bool> outlying(const std::vector<double>& values);

} // namespace heed
