// Made-up sweeps for tests of reports, and what a report says of them: answers, and notes by their names. The words of
// both are pinned in sentences_test.cpp.
#pragma once

#include "experiments/report/answers.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/report_data.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed::test {

using Values = std::vector<double>;

/// Arms with these values, one for each seed; the first arm is the reference of all others.
inline ReportData sweep_of(Metric metric, const std::vector<std::pair<std::string, Values>>& arms,
                           std::optional<Task::Chance> chance = {}) {
  ReportData report;
  report.metric = std::move(metric);
  for (std::size_t i = 0; i < arms.front().second.size(); ++i) report.seeds.push_back(static_cast<std::int64_t>(i));
  for (const auto& [label, values] : arms) {
    ReportArm arm;
    arm.label = label;
    arm.chance = chance;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ReportRun run;
      run.seed = static_cast<std::int64_t>(i);
      run.state = RunState::finished;
      run.value = values[i];
      arm.runs.push_back(run);
    }
    report.arms.push_back(std::move(arm));
  }
  compute_statistics(report);
  return report;
}

inline const Metric loss{"val_loss", Direction::lower, "nats", "cross-entropy"};

/// A sweep whose reference has the values 1.0, 1.1, ... and whose arm differs from it by `differences`, one for each
/// seed.
/// @param step  between the reference's values
inline ReportData sweep_with(const std::string& label, const Values& differences, double step = 0.1) {
  Values reference, arm;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    reference.push_back(1.0 + step * static_cast<double>(i));
    arm.push_back(reference.back() + differences[i]);
  }
  return sweep_of(loss, {{"reference", reference}, {label, arm}});
}

/// The run has failed.
inline void fail(ReportRun& run, const std::string& problem = "") {
  run.state = RunState::failed;
  run.value.reset();
  run.problem = problem;
}

inline std::string sentence(const ReportData& report, std::size_t arm = 1) {
  return answer_sentence(report, report.arms[arm], TableDigits(report));
}
inline AnswerWord answer(const ReportData& report, std::size_t arm = 1) {
  return answer_word(report.arms[arm].comparison, report.metric);
}

/// The note of this name; empty: the report has none.
inline std::optional<document::Note> note(const ReportData& report, const std::string& name) {
  const std::vector<document::Note> notes = report_notes(report);
  const auto found = std::ranges::find(notes, name, &document::Note::name);
  return found == notes.end() ? std::nullopt : std::optional(*found);
}

} // namespace heed::test
