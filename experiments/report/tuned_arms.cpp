#include "experiments/report/tuned_arms.hpp"

#include "experiments/statistics/tuning_choice.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace heed {

namespace {

/// Empty if the noise of a run is unknown.
std::optional<statistics::TuningChoice> choice_of(const ReportData& report, std::size_t arm) {
  const Tuning& tuning = *report.tuning;
  const std::optional<double> deviation = report.arms[arm].standard_deviation;
  std::vector<double> results;
  for (const Trial& trial : tuning.arms[arm].trials)
    if (trial.value && std::isfinite(*trial.value)) results.push_back(*trial.value);
  if (results.empty() || !deviation) return std::nullopt;
  return statistics::tuning_choice(results, *deviation, tuning.seeds.size(), report.metric.higher_is_better());
}

/// The squared standard error of the arm's difference, and its degrees of freedom.
struct Error {
  double square = 0, freedom = 1;
};

Error error_of(const ReportArm& arm, const ReportArm& reference) {
  const statistics::Comparison& c = *arm.comparison;
  const double n = static_cast<double>(c.seeds.size()), m = static_cast<double>(c.reference_runs);
  const auto squared = [](std::optional<double> x) { return x.value_or(0) * x.value_or(0); };
  if (c.reference_runs == 0) return {squared(c.difference.standard_deviation) / n, n - 1};
  const double va = squared(arm.standard_deviation) / n, vb = squared(reference.standard_deviation) / m;
  const double parts = va * va / (n - 1) + vb * vb / (m - 1);
  return {va + vb, parts > 0 ? (va + vb) * (va + vb) / parts : 1};
}

} // namespace

void count_choices(ReportData& report) {
  for (ReportArm& arm : report.arms) {
    arm.p_choices.reset();
    arm.other_choices = arm.other_choices_of_reference = 0;
  }
  if (!report.tuning || !report.tuning->settled() || !report.metric.is_goal()) return;
  std::vector<std::optional<statistics::TuningChoice>> choices;
  for (std::size_t i = 0; i < report.arms.size(); ++i) choices.push_back(choice_of(report, i));
  for (std::size_t i = 0; i < report.arms.size(); ++i) {
    ReportArm& arm = report.arms[i];
    if (report.is_reference(arm) || !arm.comparison || !is_found(arm.comparison->answer) || arm.comparison->ranked ||
        arm.comparison->seeds.size() < 2 || !choices[i] || !choices[arm.reference])
      continue;
    const Error error = error_of(arm, report.arms[arm.reference]);
    arm.p_choices = statistics::p_with_choices(*arm.comparison, error.square, error.freedom,
                                               choices[i]->variance + choices[arm.reference]->variance);
    arm.other_choices = choices[i]->others;
    arm.other_choices_of_reference = choices[arm.reference]->others;
  }
}

} // namespace heed
