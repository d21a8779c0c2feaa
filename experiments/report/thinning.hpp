// Curves of very many evaluations, thinned for a page that a browser opens at once. Nothing is computed from what is
// thinned: it is for the eye alone.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// Of each curve every so many-th point is drawn, beside its last one. 1: all.
struct Thinning {
  std::size_t runs = 1;  ///< of single runs' curves
  std::size_t bands = 1; ///< of arms' means and bands

  bool any() const { return runs > 1 || bands > 1; }
};

/// So many points of all runs, and of all arms, a page shows at most; but each curve has its first and its last.
inline constexpr std::size_t most_run_points = 100'000, most_band_points = 30'000;

/// The least with which the report's curves stay within these.
Thinning thinning_of(const ReportData& report);

/// What a page has to say of it; empty where nothing is left out.
std::string thinning_sentence(const Thinning& thinning);

/// The points that are drawn.
template <class Point> std::vector<Point> thinned(std::vector<Point> points, std::size_t every) {
  if (every <= 1 || points.empty()) return points;
  std::vector<Point> out;
  for (std::size_t i = 0; i + 1 < points.size(); i += every) out.push_back(std::move(points[i]));
  out.push_back(std::move(points.back()));
  return out;
}

} // namespace heed
