// How many decimals a report's numbers have: as many as their spread bears.
#pragma once

#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"

namespace heed {

struct Digits {
  int value = 4;      ///< of the metric
  int difference = 4; ///< of differences from the reference, and their intervals
};

/// The digits of a report's table, row by row, so that an arm that diverged takes no digit from the others.
class TableDigits {
public:
  explicit TableDigits(const ReportData& report);

  /// By `decimals_for`, from the arms' standard deviations and the halves of the intervals; where there are no
  /// intervals, differences have the metric's decimals. Spreads that are rounding (ReportData::resolution) don't count.
  Digits common() const { return common_; }
  /// The same, unless the arm's own spread would then be shown by fewer than 2 or more than 4 significant digits.
  Digits of(const ReportArm& arm) const;

private:
  double resolution_ = 0;
  Digits common_;
};

/// Of one comparison, where nothing stands beside it: two significant digits of how well the mean is known.
int own_decimals(const statistics::Comparison& c);
/// Those of a difference and its interval: `decimals`, or powers of ten (`decimals_showing`).
Decimals decimals_showing(const statistics::Comparison& c, int decimals);

/// "[-0.05, +0.09]": a comparison's interval. "(0.00, +0.12]" where the difference is found and an end is shown as zero:
/// zero itself is outside. Empty without an interval.
/// @param signs  whether positive ends have one
/// @param turned  that of minus the difference
std::string interval_text(const statistics::Comparison& c, Decimals decimals, bool signs, bool turned = false);

} // namespace heed
