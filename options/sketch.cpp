#include "options/sketch.hpp"

namespace heed {

std::vector<std::pair<double, double>> sampled(double from, double to, int steps,
                                               const std::function<double(double)>& f) {
  std::vector<std::pair<double, double>> out;
  for (int i = 0; i <= steps; ++i) {
    const double x = from + (to - from) * i / steps;
    out.emplace_back(x, f(x));
  }
  return out;
}

} // namespace heed
