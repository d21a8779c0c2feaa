// A sketch: the values that a picture of a variant shows, such as a curve or a heat map.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// One panel of a picture. It has curves, or bars, or a heat map.
struct Sketch {
  struct Curve {
    std::string label; ///< empty if there is only one curve
    std::vector<std::pair<double, double>> points;
  };
  /// Cells in rows, from the top. -infinity: hidden by a mask. NaN and +infinity are drawn as such.
  struct Heatmap {
    std::int64_t rows = 0, columns = 0;
    std::vector<double> values;
    std::int64_t grid = 0; ///< lines after each so many rows and columns; 0: none
  };

  std::string title, x, y; ///< the labels of the axes
  std::vector<Curve> curves{};
  std::vector<std::pair<std::string, double>> bars{};
  Heatmap heatmap{};
  /// The first and the last value of each axis of a heat map; of `y`: in the top row and in the bottom row.
  std::pair<double, double> x_range{}, y_range{};
};

/// The points of a curve: (x, f(x)) for `steps` + 1 values of x from `from` to `to`.
std::vector<std::pair<double, double>> sampled(double from, double to, int steps,
                                               const std::function<double(double)>& f);

} // namespace heed
