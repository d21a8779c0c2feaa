#include "experiments/report/answers.hpp"

#include "experiments/report/digits.hpp"
#include "experiments/report/numbers.hpp"

#include <fmt/format.h>

namespace heed {

std::string answer_sentence(const ReportData& report, const ReportArm& arm) {
  if (!arm.comparison) return fmt::format("{}: no pair of finished runs yet", arm.label);
  const statistics::PairedDifference& d = arm.comparison->difference;
  const int decimals = digits_of(report).difference;
  std::string text = fmt::format("{} changes {} by {}", arm.label, report.metric.name, signed_fixed(d.mean, decimals));
  if (!report.metric.unit.empty()) text += " " + report.metric.unit;
  if (d.interval)
    text += fmt::format(" [{}, {}]", signed_fixed(d.interval->low, decimals), signed_fixed(d.interval->high, decimals));
  return text + fmt::format(", n = {}", d.pairs);
}

} // namespace heed
