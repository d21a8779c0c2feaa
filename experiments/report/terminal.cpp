#include "experiments/report/answers.hpp"
#include "experiments/report/renderers.hpp"

#include <fmt/format.h>

namespace heed {

std::string render_terminal(const ReportData& report, const Style& style) {
  std::string out = fmt::format("{}  {}\n", style.bold(report.name), style.faint(progress_sentence(report)));
  if (!report.question.empty()) out += fmt::format("{}\n", report.question);
  out += "\n";
  out += to_text(summary_table(report, style), style.colour ? "\033[1m" : "", style.colour ? "\033[0m" : "");
  out += "\n";
  const std::vector<std::string> answers = answer_sentences(report);
  for (const std::string& answer : answers) out += fmt::format("  {}\n", answer);
  if (!answers.empty()) out += "\n";
  for (const std::string& note : summary_notes(report)) out += fmt::format("  {}\n", style.faint(note));

  std::string fairness;
  for (const std::string& note : fairness_notes(report)) fairness += fmt::format("  {}\n", note);
  if (!fairness.empty()) out += "\n" + fairness;

  std::string problems;
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs)
      if (!run.problem.empty())
        problems += fmt::format("  {} {}, seed {} (run {}): {}\n", style.red(run.standing()), arm.label, run.seed,
                                run.id, run.problem);
  if (!problems.empty()) out += "\n" + problems;
  return out;
}

} // namespace heed
