#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace heed {

bool is_zero(const std::string& text) {
  return text.find('0') != std::string::npos && text.find_first_of("123456789") == std::string::npos;
}

namespace {
constexpr int most_decimals = 6;

/// The decimals that show two significant digits; negative if even the integer digits are too many. The factor handles
/// 0.1 computed as 0.0999...
int two_digits(double spread) { return 1 - static_cast<int>(std::floor(std::log10(spread * (1 + 1e-9)))); }

int within_limits(int decimals) { return std::clamp(decimals, 0, most_decimals); }

/// Writes "-0.00" and "+0.00" as "0.00".
std::string unsigned_zero(const std::string& text) { return is_zero(text) ? text.substr(text.find('0')) : text; }

/// Numbers of at least this size are hard to read without powers of ten.
constexpr double long_number = 1e6;

const std::optional<statistics::Interval>& shown_interval(const statistics::Comparison& c) {
  return c.interval ? c.interval : c.difference.interval;
}

/// Whether all pairs differ by the same whole number, as numbers of steps can.
bool is_count(const statistics::Comparison& c) {
  return c.constant && std::floor(c.difference.mean) == c.difference.mean;
}

} // namespace

int decimals_for(const std::vector<double>& spreads) {
  std::vector<double> counted;
  for (const double spread : spreads)
    if (std::isfinite(spread) && spread > 0) counted.push_back(spread);
  if (counted.empty()) return 4;
  std::ranges::sort(counted);
  return within_limits(two_digits(counted[(counted.size() - 1) / 2]));
}

int decimals_within(int decimals, double spread) {
  if (!std::isfinite(spread) || !(spread > 0)) return decimals;
  const int fewest = two_digits(spread);
  return std::clamp(decimals, within_limits(fewest), within_limits(fewest + 2));
}

Decimals decimals_showing(std::initializer_list<double> values, int decimals) {
  const auto tiny = [&](double x) {
    return is_zero(fmt::format("{:.{}f}", x, decimals)) || (decimals >= most_decimals && std::abs(x) < 1e-5);
  };
  Decimals out = decimals;
  out.powers = std::ranges::all_of(values, tiny) && std::ranges::any_of(values, [](double x) { return x != 0; });
  return out;
}

std::string fixed(std::optional<double> value, Decimals decimals) {
  if (!value || std::isnan(*value)) return "-";
  if (decimals.powers) return *value == 0 ? "0" : fmt::format("{:.1e}", *value);
  if (std::abs(*value) >= long_number) return fmt::format("{:.2e}", *value);
  return unsigned_zero(fmt::format("{:.{}f}", *value, decimals.count));
}

std::string signed_fixed(double value, Decimals decimals) {
  return (value > 0 && !is_zero(fixed(value, decimals)) ? "+" : "") + fixed(value, decimals);
}

std::string probability(double p) {
  // 0.0995 would be displayed as 0.1. A value above 0.05 must not be displayed as 0.05 or less.
  std::string text = p >= 0.0995 ? fmt::format("{:.2f}", p) : fmt::format("{:.2g}", p);
  for (int digits = 3; p > 0.05 && p < 0.06 && std::stod(text) <= 0.05 && digits < 17; ++digits)
    text = fmt::format("{:.{}g}", p, digits);
  return text;
}

std::string p_with_relation(double p) {
  constexpr double smallest = 1e-12;
  return p < smallest ? fmt::format("< {:g}", smallest) : "= " + probability(p);
}

std::string with_commas(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  for (int at = static_cast<int>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string scaled(double amount, const std::string& unit) {
  static constexpr std::array prefixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  // 999.5 would be displayed as 1000.
  while (std::abs(amount) >= 999.5 && prefix + 1 < prefixes.size()) {
    amount /= 1000;
    ++prefix;
  }
  const int decimals = std::abs(amount) >= 99.95 || prefix == 0 ? 0 : std::abs(amount) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", amount, decimals, prefixes[prefix], unit);
}

std::string duration(double seconds) {
  if (!(seconds >= 0) || !std::isfinite(seconds)) return "-";
  if (seconds < 0.095) return fmt::format("{:.0f} ms", 1000 * seconds);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {} h", whole / 86400, whole / 3600 % 24);
}

std::string name_in_list(const std::string& name) {
  const bool parts = name.find(", ") != std::string::npos || name.find(" and ") != std::string::npos;
  return parts ? '"' + name + '"' : name;
}

TableDigits::TableDigits(const ReportData& report) : resolution_(std::max(report.resolution, 0x1p-50)) {
  std::vector<double> spreads, halves;
  for (const ReportArm& arm : report.arms) {
    const double rounding = resolution_ * std::abs(arm.mean.value_or(0));
    if (arm.standard_deviation > rounding) spreads.push_back(*arm.standard_deviation);
    if (!arm.comparison) continue;
    if (const auto half = half_width(*arm.comparison); half > rounding) halves.push_back(*half);
  }
  common_.value = decimals_for(spreads);
  common_.difference = halves.empty() ? common_.value : decimals_for(halves);
}

Digits TableDigits::of(const ReportArm& arm) const {
  const double rounding = resolution_ * std::abs(arm.mean.value_or(0));
  Digits out = common_;
  if (arm.standard_deviation > rounding) out.value = decimals_within(common_.value, *arm.standard_deviation);
  if (!arm.comparison) return out;
  if (const auto half = half_width(*arm.comparison); half > rounding)
    out.difference = decimals_within(common_.difference, *half);
  if (is_count(*arm.comparison)) out.difference = 0;
  return out;
}

std::optional<double> half_width(const statistics::Comparison& c) {
  const auto& interval = shown_interval(c);
  if (!interval) return std::nullopt;
  if (!std::isfinite(interval->high)) return c.difference.mean - interval->low;
  if (!std::isfinite(interval->low)) return interval->high - c.difference.mean;
  return (interval->high - interval->low) / 2;
}

int own_decimals(const statistics::Comparison& c) {
  const auto half = half_width(c);
  return is_count(c) ? 0 : half ? decimals_for({*half}) : decimals_for({});
}

std::string interval_text(const statistics::Comparison& c, Decimals decimals, bool signs, bool turned) {
  if (!c.interval) return "";
  const double low = turned ? -c.interval->high : c.interval->low, high = turned ? -c.interval->low : c.interval->high;
  const auto& one_sided = c.noninferiority;
  const bool same = c.answer == statistics::Answer::same || c.answer == statistics::Answer::not_worse,
             found = one_sided ? c.answer == statistics::Answer::better : c.p.value_or(1) <= c.level && !same;
  const std::optional<double> margin = one_sided ? std::optional(one_sided->margin) : c.margin;
  const auto text = [&](double end) {
    return std::isinf(end) ? std::string(end < 0 ? "-∞" : "∞")
           : signs         ? signed_fixed(end, decimals)
                           : fixed(end, decimals);
  };
  const auto open = [&](double end) {
    return std::isinf(end) || (found && is_zero(text(end))) || (same && margin && std::abs(end) == *margin);
  };
  return fmt::format("{}{}, {}{}", open(low) ? '(' : '[', text(low), text(high), open(high) ? ')' : ']');
}

Decimals decimals_showing(const statistics::Comparison& c, int decimals) {
  const double mean = c.difference.mean;
  if (!c.interval) return decimals_showing({mean}, decimals);
  const auto finite = [&](double end) { return std::isfinite(end) ? end : mean; };
  return decimals_showing({mean, finite(c.interval->low), finite(c.interval->high)}, decimals);
}

} // namespace heed
