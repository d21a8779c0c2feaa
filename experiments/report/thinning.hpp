// Reduces the points of long curves, so that a browser opens the report page quickly. Thinned curves are only
// displayed; no statistic uses them.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// The maximum number of points of a metric's curves on a page. Each curve still has its first and its last point.
inline constexpr std::size_t most_points = 15'000;

/// The least n with which the report's curves stay within the limit if each has every n-th point and its last. 1: all.
std::size_t thinning_of(const ReportData& report);

/// A sentence for the page about it; empty if all points are shown.
std::string thinning_sentence(std::size_t every);

/// The points to draw.
template <class Point> std::vector<Point> thinned(std::vector<Point> points, std::size_t every) {
  if (every <= 1 || points.empty()) return points;
  std::vector<Point> out;
  for (std::size_t i = 0; i + 1 < points.size(); i += every) out.push_back(std::move(points[i]));
  out.push_back(std::move(points.back()));
  return out;
}

} // namespace heed
