// R's `sleep` data ("Student", 1908): for each of ten patients, the extra hours of sleep under one drug minus the extra
// hours under another drug.
#pragma once

#include <vector>

inline const std::vector<double> sleep_differences{-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4};
