// A made-up report for tests. Its names contain every character that needs escaping in some output format.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heed {

inline const std::string awkward_label = "</script><b>\"50 % & more\", a_b\\n{x} 'é' <!-- ±";

inline ReportRun finished_run(std::int64_t seed, double value) {
  ReportRun run;
  run.id = "000000000000001" + std::to_string(seed);
  run.seed = seed;
  run.state = RunState::finished;
  run.value = value;
  run.curve = {{100, value + 1}, {200, value}};
  run.seconds = 4;
  run.folder = "runs/" + run.id;
  return run;
}

inline ReportArm arm_of(std::string label, std::vector<ReportRun> runs) {
  ReportArm arm;
  arm.label = std::move(label);
  arm.runs = std::move(runs);
  arm.cost = PlannedCost{.parameters = 103424, .flops_per_step = 2.5e9, .bytes = 0};
  arm.config = "name = \"</script>\"\n";
  return arm;
}

/// Three arms with three runs each: the reference, an arm that is worse by 0.30, 0.31 and 0.29, and an arm with one
/// failed run.
inline ReportData awkward_report() {
  ReportData report;
  report.name = "</title><script>alert(1)</script>";
  report.question = "Is a_b 50 % of \"c\" & d?";
  report.sweep = true;
  report.metric = {"val_loss", Direction::lower, "nats", "cross-entropy of the validation split"};
  report.folder = "runs/sweeps/awkward-0123456789ab";
  report.out = "runs";
  report.seeds = {0, 1, 2};
  report.margin = 0.05;
  report.arms = {arm_of("reference", {finished_run(0, 1.00), finished_run(1, 1.10), finished_run(2, 1.20)}),
                 arm_of(awkward_label, {finished_run(0, 1.30), finished_run(1, 1.41), finished_run(2, 1.49)}),
                 arm_of("partly", {finished_run(0, 0.90), finished_run(1, 0.1 + 0.2), finished_run(2, 1.10)})};
  report.arms[1].changes = {{"attention.score", "additive"}, {"model.width", "64"}};
  report.arms[1].differences = {{"attention.score", "\"dot\"", "\"additive\""}};
  ReportRun& failed = report.arms[2].runs[1];
  failed.state = RunState::failed;
  failed.value.reset();
  failed.problem = "NaN loss at step 17,\nfirst made by \"softmax\"";
  report.machines = {{"heed 0.2.0 on a CPU & another", 8}};
  AttentionMap map;
  map.module = "blocks.0.attention";
  map.entropy = 0.5;
  map.queries = {"<", "\""};
  map.keys = {"a", "b", "c"};
  map.weights = {1, 0, 0, 0.25, 0.25, 0.5};
  report.arms[0].runs[0].attention.emplace_back().input = "<i>";
  report.arms[0].runs[0].attention[0].heads = {map};
  compute_statistics(report);
  return report;
}

} // namespace heed
