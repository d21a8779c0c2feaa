// Where a report's numbers come from, as far as a reader must know it before reading them.
#include "experiments/report/tables.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {

namespace {

std::string planned_late(const ReportData& report) {
  const Frozen& frozen = *report.frozen;
  const std::string sweeps = joined(report.earlier, "; ", [](const EarlierSweep& earlier) {
    return fmt::format("{} of them are runs of {} ({}{}{})", earlier.shared, earlier.name, time_text(earlier.at),
                       earlier.changes.empty() ? "" : "; changed since: ", fmt::join(earlier.changes, ", "));
  });
  return fmt::format(
      "Planned after results: {} of its {} runs had finished when this plan was frozen ({}){}{}. A choice that is made "
      "after seeing results raises the chance of a false difference from 5 % to between 7 and 16 %.",
      frozen.finished, frozen.runs, time_text(frozen.at), sweeps.empty() ? "" : ", ", sweeps);
}

std::string made_elsewhere(const ReportTable& table) {
  return fmt::format(
      "Made elsewhere: these results were read from {}; Heed did not make the runs. No plan was frozen "
      "before them, so nobody knows whether all runs are shown, nor whether metric, reference and margin "
      "were chosen before the results were seen. p and intervals assume both.",
      table.file);
}

std::string without_row(const ReportData& report) {
  const std::size_t n = report.no_row();
  return fmt::format(
      "Missing: {} has no result for {} of {} runs. A seed that an arm or its reference lacks is left out "
      "of their comparison. p holds if {} missing for a reason that has nothing to do with {}.",
      report.table->file, n, report.total(), n == 1 ? "the run is" : "the runs are",
      n == 1 ? "its result" : "their results");
}

} // namespace

std::string time_text(const std::string& utc) {
  return utc.size() < 16 ? utc : utc.substr(0, 10) + " " + utc.substr(11, 5) + " UTC";
}

std::vector<std::string> provenance_warnings(const ReportData& report) {
  std::vector<std::string> out;
  const bool compares = report.arms.size() > 1;
  if (report.table) {
    out.push_back(made_elsewhere(*report.table));
    if (report.no_row() > 0) out.push_back(without_row(report));
    out.insert(out.end(), report.table->warnings.begin(), report.table->warnings.end());
  }
  if (compares && report.frozen && report.frozen->finished > 0) out.push_back(planned_late(report));
  if (const std::size_t n = report.gone())
    out.push_back(fmt::format("Gone: {} run{} finished, and {} missing now; {} in no number.{}", n,
                              n == 1 ? " was" : "s were", n == 1 ? "its folder is" : "their folders are",
                              n == 1 ? "it is" : "they are",
                              compares ? " p holds if runs are not removed because of their results." : ""));
  if (const std::size_t n = report.left_out() - report.no_row(); n > 0 && report.table)
    out.push_back(fmt::format("Left out: {} run{} in no number, because the table says so.", n,
                              n == 1 ? " is" : "s are"));
  else if (n > 0)
    out.push_back(fmt::format("Left out: {} run{} in no number, because {} damaged, edited, or of another version.", n,
                              n == 1 ? " is" : "s are", n == 1 ? "its folder is" : "their folders are"));
  return out;
}

} // namespace heed
