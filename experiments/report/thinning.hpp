// Reduces the points of long curves, so that a browser opens the report page quickly. Thinned curves are only
// displayed; no statistic uses them.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// Each curve shows every n-th point and its last point. 1: all points.
struct Thinning {
  std::size_t runs = 1;  ///< n for curves of single runs
  std::size_t bands = 1; ///< n for means and bands of arms

  bool any() const { return runs > 1 || bands > 1; }
};

/// The maximum numbers of points on a page, of all runs and of all arms. Each curve still has its first and its last
/// point.
inline constexpr std::size_t most_run_points = 100'000, most_band_points = 30'000;

/// The smallest thinning with which the report's curves stay within these limits.
Thinning thinning_of(const ReportData& report);

/// A sentence for the page about the thinning; empty if all points are shown.
std::string thinning_sentence(const Thinning& thinning);

/// The points to draw.
template <class Point> std::vector<Point> thinned(std::vector<Point> points, std::size_t every) {
  if (every <= 1 || points.empty()) return points;
  std::vector<Point> out;
  for (std::size_t i = 0; i + 1 < points.size(); i += every) out.push_back(std::move(points[i]));
  out.push_back(std::move(points.back()));
  return out;
}

} // namespace heed
