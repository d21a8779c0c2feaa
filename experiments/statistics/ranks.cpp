#include "experiments/statistics/ranks.hpp"

#include <algorithm>

namespace heed::statistics {

void rank_together(std::vector<double>& a, std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  for (std::vector<double>* values : {&a, &b})
    for (double& x : *values) {
      const auto below = std::ranges::count_if(all, [&](double y) { return y < x; }),
                 equal = std::ranges::count(all, x);
      x = static_cast<double>(below) + static_cast<double>(equal + 1) / 2;
    }
}

} // namespace heed::statistics
