// Formats numbers for readers: decimals by the spread of the values, signs, probabilities, units, durations; and names
// in lists.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// The number of decimals, 0 to 6, that shows two significant digits of the median of these spreads; 4 if there are
/// none. Zero spreads are ignored.
int decimals_for(const std::vector<double>& spreads);
/// The number nearest to `decimals` that shows 2 to 4 significant digits of a positive spread.
int decimals_within(int decimals, double spread);

/// A number of decimals, or powers of ten with two significant digits: "1.2e-07".
struct Decimals {
  int count = 0;
  bool powers = false;
  Decimals(int decimals) : count(decimals) {} // implicit: most formats are a plain number of decimals
};

/// The format of numbers shown together, such as a difference and its interval: `decimals` decimals, or powers of ten.
/// Powers of ten are used if some number is not zero, but all would be displayed as zero or, with the most decimals,
/// with at most one digit.
Decimals decimals_showing(std::initializer_list<double> values, int decimals);

/// "1.234"; "1.23e+07" for a million or more; "-" for an empty value or NaN.
std::string fixed(std::optional<double> value, Decimals decimals);
/// "± 0.04"; empty without a spread.
inline std::string spread_text(std::optional<double> spread, Decimals decimals) {
  return spread && std::isfinite(*spread) ? "± " + fixed(spread, decimals) : "";
}
/// With its sign: "+0.31", "-0.02".
std::string signed_fixed(double value, Decimals decimals);
/// Whether all digits of a formatted number are zero: "0", "-0.00".
bool is_zero(const std::string& text);
/// A probability: "0.44", "0.031", "0.00098", "1.9e-06". Two significant digits; two decimals for 0.1 or more.
std::string probability(double p);
/// `probability` with a relation sign: "= 0.031"; "< 1e-12" for smaller values.
std::string p_with_relation(double p);
/// "103,424".
std::string with_commas(std::int64_t count);
/// Three significant digits and a unit: "1.24 G", "310 k". `unit` follows: "FLOPs", "B".
std::string scaled(double amount, const std::string& unit);
/// "45 s", "3 min 20 s", "2 h 05 min", "3 d 4 h"; one decimal below ten seconds.
std::string duration(double seconds);

/// A name as an item of a list: in quotation marks if it has a comma, or "and", itself.
std::string name_in_list(const std::string& name);

struct Digits {
  int value = 4;      ///< of the metric
  int difference = 4; ///< of differences from the reference and of their intervals
};

/// The digits of a report's table, chosen row by row: an arm that diverged does not reduce the digits of the other
/// arms.
class TableDigits {
public:
  explicit TableDigits(const ReportData& report);

  /// From the arms' standard deviations and the half-widths of the intervals, by `decimals_for`. Without intervals,
  /// differences have the metric's decimals. Spreads due to rounding (ReportData::resolution) are ignored.
  Digits common() const { return common_; }
  /// Like `common`, unless it would show the arm's own spread with fewer than 2 or more than 4 significant digits.
  Digits of(const ReportArm& arm) const;

private:
  double resolution_ = 0;
  Digits common_;
};

/// Half the width of the comparison's interval, or of Student's; of a one-sided one, the mean's distance from its end.
std::optional<double> half_width(const statistics::Comparison& c);

/// The decimals for one comparison that is shown separately: two significant digits of the mean's uncertainty.
int own_decimals(const statistics::Comparison& c);
/// The format of a difference and its interval: `decimals`, or powers of ten (`decimals_showing`).
Decimals decimals_showing(const statistics::Comparison& c, int decimals);

/// "[-0.05, +0.09]": a comparison's interval. "(0.00, +0.12]" if a difference is found and an end is displayed as zero,
/// and "(-0.05, +0.03]" if the arm is the same and an end was moved to the margin: this end itself is outside. Empty
/// without an interval. A one-sided one is "[-0.009, ∞)", or "(-0.02, ∞)" if its end was moved to the margin.
/// @param signs   whether positive ends have a sign
/// @param turned  whether to show the interval of the negated difference
std::string interval_text(const statistics::Comparison& c, Decimals decimals, bool signs, bool turned = false);

} // namespace heed
