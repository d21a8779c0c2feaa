#include "experiments/report/provenance.hpp"

#include "experiments/report/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {

namespace {

std::string planned_late(const ReportData& report) {
  const Frozen& frozen = *report.frozen;
  std::vector<std::string> sweeps;
  for (const EarlierSweep& earlier : report.earlier)
    sweeps.push_back(fmt::format("{} of them are runs of {} ({}{}{})", earlier.shared, earlier.name,
                                 time_text(earlier.at),
                                 earlier.changes.empty() ? "" : "; changed since: ", fmt::join(earlier.changes, ", ")));
  return fmt::format(
      "Planned after results: {} of its {} runs had finished when this plan was frozen ({}){}{}. A choice that is made "
      "after seeing results raises the chance of a false difference from 5 % to between 7 and 16 %.",
      frozen.finished, frozen.runs, time_text(frozen.at), sweeps.empty() ? "" : ", ", fmt::join(sweeps, "; "));
}

} // namespace

std::string time_text(const std::string& utc) {
  return utc.size() < 16 ? utc : utc.substr(0, 10) + " " + utc.substr(11, 5) + " UTC";
}

std::vector<std::string> provenance_warnings(const ReportData& report) {
  std::vector<std::string> out;
  const bool compares = report.arms.size() > 1;
  if (compares && report.frozen && report.frozen->finished > 0) out.push_back(planned_late(report));
  if (const std::size_t n = report.gone())
    out.push_back(fmt::format("Gone: {} run{} finished, and {} missing now; {} in no number.{}", n,
                              n == 1 ? " was" : "s were", n == 1 ? "its folder is" : "their folders are",
                              n == 1 ? "it is" : "they are",
                              compares ? " p holds if runs are not removed because of their results." : ""));
  if (const std::size_t n = report.left_out())
    out.push_back(fmt::format("Left out: {} run{} in no number, because {} damaged, edited, or of another version.", n,
                              n == 1 ? " is" : "s are", n == 1 ? "its folder is" : "their folders are"));
  return out;
}

} // namespace heed
