#include "experiments/report/shown_texts.hpp"

#include "experiments/config/values.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// Makes the texts of a report's parts safe to print.
struct Texts {
  template <class... Parts> static void show_all(Parts&... parts) { (show(parts), ...); }

  static void show(std::string& text) { text = without_controls(text); }
  static void show(PlannedChange& change) { show_all(change.key, change.value); }
  static void show(PlannedOption& option) { show_all(option.key, option.name); }
  static void show(Difference& difference) { show_all(difference.key, difference.a, difference.b); }
  static void show(Metric& metric) { show_all(metric.name, metric.unit, metric.description, metric.label); }
  static void show(ReportMachine& machine) { show(machine.description); }
  static void show(EarlierSweep& sweep) { show_all(sweep.name, sweep.at, sweep.changes); }
  static void show(Frozen& frozen) { show_all(frozen.at, frozen.kernels); }
  static void show(Trial& trial) { show_all(trial.point, trial.problem); }
  static void show(ArmTuning& arm) { show(arm.trials); }
  static void show(TunedOption& option) { show_all(option.key, option.values); }
  static void show(Tuning& tuning) { show_all(tuning.options, tuning.arms); }
  static void show(ReportTable& table) { show_all(table.file, table.paired_by, table.columns, table.warnings); }
  static void show(ReportRun& run) {
    show_all(run.id, run.seed_name, run.start_changes, run.problem, run.also_problems, run.examples_problem,
             run.attention_problem);
  }
  static void show(ReportArm& arm) {
    show_all(arm.label, arm.name, arm.own_label, arm.own_name, arm.group, arm.start, arm.leakage);
    show_all(arm.changes, arm.differences, arm.runs);
  }
  static void show(std::map<std::string, std::string>& texts) {
    std::map<std::string, std::string> shown;
    for (const auto& [name, text] : texts) shown.emplace(without_controls(name), without_controls(text));
    texts = std::move(shown);
  }
  template <class T> static void show(std::vector<T>& list) {
    for (T& entry : list) show(entry);
  }
  template <class T> static void show(std::optional<T>& part) {
    if (part) show(*part);
  }
};

} // namespace

void show_controls(ReportData& report) {
  Texts::show_all(report.name, report.hash, report.question, report.labels, report.reference_values, report.metric,
                  report.evaluated, report.also, report.others, report.within, report.arms, report.machines,
                  report.data, report.frozen, report.earlier, report.match, report.tuning, report.table);
}

} // namespace heed
