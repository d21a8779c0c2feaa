#include "experiments/report/caveats.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <vector>

namespace heed {

namespace {

/// How much worse a run that fails to learn is than the reference's mean: at chance, or else at the metric's other end.
std::optional<double> fall_of(const ReportData& report, const ReportArm& arm) {
  const std::optional<double>& mean = report.arms[arm.reference].mean;
  const Metric& metric = report.metric;
  if (!mean || !metric.is_goal()) return std::nullopt;
  const std::optional<Task::Level> chance = chance_level(report, arm);
  const double worst = chance ? chance->value : metric.higher_is_better() ? metric.low : metric.high;
  const double fall = metric.higher_is_better() ? *mean - worst : worst - *mean;
  return std::isfinite(fall) && fall > 0 ? std::optional(fall) : std::nullopt;
}

} // namespace

document::Note spreads_note(const ReportData& report) {
  constexpr double level = 0.1;
  std::vector<std::string> names;
  const auto varies = [](const ReportArm& arm) { return arm.standard_deviation.value_or(0) > 0; };
  for (const ReportArm& arm : report.arms)
    if (arm.comparison && is_found(arm.comparison->answer) && varies(arm) && varies(report.arms[arm.reference]) &&
        arm.comparison->p_spreads.value_or(1) <= level)
      names.push_back(arm.label);
  if (names.empty()) return {};
  if (names.size() > 1) std::ranges::transform(names, names.begin(), name_in_list);
  constexpr std::size_t most = 4;
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  const std::string differ = fmt::format("{} of {}{} from the reference's",
                                         names.size() + more == 1 ? "the standard deviation"
                                                                  : "the standard deviations",
                                         fmt::join(names, ", "),
                                         more > 0            ? fmt::format(" and {} more arms differ", more)
                                         : names.size() == 1 ? " differs"
                                                             : " differ");
  return {.claim = differ + ", so p may be too small.",
          .text = fmt::format("{} (p <= {:g}, not corrected for the number of arms), so p is too small if the noise is "
                              "also skewed. In our simulations with a spread of 4 and skewed noise, up to 63 of 100 "
                              "sweeps found a difference that does not exist (5 are promised), and up to 76 called "
                              "arms the same wrongly; other noise can be worse. Look at the individual runs.",
                              differ, level)};
}

std::string rare_failures_note(const ReportData& report) {
  const ReportArm* fewest = nullptr;
  for (const ReportArm& arm : report.arms)
    if (arm.comparison &&
        (arm.comparison->answer == statistics::Answer::same ||
         arm.comparison->answer == statistics::Answer::not_worse) &&
        (fewest == nullptr || arm.comparison->seeds.size() < fewest->comparison->seeds.size()))
      fewest = &arm;
  if (fewest == nullptr) return "";
  constexpr double share = 0.1;
  const std::size_t n = fewest->comparison->seeds.size();
  const std::optional<double> fall = fall_of(report, *fewest);
  return fmt::format("If 1 run in 10 {}, {} seeds would show none in {:.0f} of 100 sweeps.",
                     !fall ? "failed to learn"
                           : fmt::format("{} by {:.2g}{}", report.metric.higher_is_better() ? "fell" : "rose", *fall,
                                         report.metric.unit.empty() ? "" : " " + report.metric.unit),
                     n, 100 * std::pow(1 - share, static_cast<double>(n)));
}

std::string scope_note(const ReportData& report) {
  const std::string by = report.paired_by();
  const std::int64_t examples = report.arms.front().evaluated_examples;
  const bool one_set = std::ranges::all_of(report.arms,
                                           [&](const ReportArm& arm) { return arm.evaluated_examples == examples; });
  const std::string where = report.table ? "the same examples"
                            : one_set && examples > 0
                                ? fmt::format("one fixed validation set of {} examples", with_commas(examples))
                                : "the same validation examples";
  const std::string others = !report.table || by == "seed"           ? "seeds"
                             : report.table->paired_by.empty()       ? "runs"
                             : by.find(" and ") != std::string::npos ? fmt::format("combinations of {}", by)
                                                                     : fmt::format("values of {}", by);
  return fmt::format("{} other {}, on {}; {} nothing about other examples{}.",
                     has_intervals(report) ? "p and intervals cover" : "p covers", others, where,
                     has_intervals(report) ? "they say" : "it says",
                     report.examples ? ", except the intervals over other examples in the sentences" : "");
}

} // namespace heed
