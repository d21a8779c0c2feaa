#include "experiments/report/digits.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace heed {

namespace {

const std::optional<statistics::Interval>& shown_interval(const statistics::Comparison& c) {
  return c.interval ? c.interval : c.difference.interval;
}

std::optional<double> half_of(const statistics::Comparison& c) {
  const auto& interval = shown_interval(c);
  return interval ? std::optional((interval->high - interval->low) / 2) : std::nullopt;
}

/// Whether all pairs differ by the same whole number, as numbers of steps can.
bool is_count(const statistics::Comparison& c) {
  const auto& interval = shown_interval(c);
  const double mean = c.difference.mean;
  return interval && mean != 0 && interval->low == interval->high && std::floor(mean) == mean;
}

} // namespace

TableDigits::TableDigits(const ReportData& report) : resolution_(std::max(report.resolution, 0x1p-50)) {
  std::vector<double> spreads, halves;
  for (const ReportArm& arm : report.arms) {
    const double rounding = resolution_ * std::abs(arm.mean.value_or(0));
    if (arm.standard_deviation > rounding) spreads.push_back(*arm.standard_deviation);
    if (!arm.comparison) continue;
    if (const auto half = half_of(*arm.comparison); half > rounding) halves.push_back(*half);
  }
  common_.value = decimals_for(spreads);
  common_.difference = halves.empty() ? common_.value : decimals_for(halves);
}

Digits TableDigits::of(const ReportArm& arm) const {
  const double rounding = resolution_ * std::abs(arm.mean.value_or(0));
  Digits out = common_;
  if (arm.standard_deviation > rounding) out.value = decimals_within(common_.value, *arm.standard_deviation);
  if (!arm.comparison) return out;
  if (const auto half = half_of(*arm.comparison); half > rounding)
    out.difference = decimals_within(common_.difference, *half);
  if (is_count(*arm.comparison)) out.difference = 0;
  return out;
}

int own_decimals(const statistics::Comparison& c) {
  const auto half = half_of(c);
  return is_count(c) ? 0 : half ? decimals_for({*half}) : decimals_for({});
}

std::string interval_text(const statistics::Comparison& c, Decimals decimals, bool signs, bool turned) {
  if (!c.interval) return "";
  const double low = turned ? -c.interval->high : c.interval->low, high = turned ? -c.interval->low : c.interval->high;
  const bool found = c.p.value_or(1) <= c.level;
  const auto text = [&](double end) { return signs ? signed_fixed(end, decimals) : fixed(end, decimals); };
  const auto open = [&](double end) { return found && is_zero(text(end)); };
  return fmt::format("{}{}, {}{}", open(low) ? '(' : '[', text(low), text(high), open(high) ? ')' : ']');
}

Decimals decimals_showing(const statistics::Comparison& c, int decimals) {
  const double mean = c.difference.mean;
  if (!c.interval) return decimals_showing({mean}, decimals);
  return decimals_showing({mean, c.interval->low, c.interval->high}, decimals);
}

} // namespace heed
