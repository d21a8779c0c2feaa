// Chooses the number of decimals of a report's numbers by their spread.
#pragma once

#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"

namespace heed {

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

/// The decimals for one comparison that is shown separately: two significant digits of the mean's uncertainty.
int own_decimals(const statistics::Comparison& c);
/// The format of a difference and its interval: `decimals`, or powers of ten (`decimals_showing`).
Decimals decimals_showing(const statistics::Comparison& c, int decimals);

/// "[-0.05, +0.09]": a comparison's interval. "(0.00, +0.12]" if a difference is found and an end is displayed as zero:
/// zero itself is outside. Empty without an interval.
/// @param signs   whether positive ends have a sign
/// @param turned  whether to show the interval of the negated difference
std::string interval_text(const statistics::Comparison& c, Decimals decimals, bool signs, bool turned = false);

} // namespace heed
