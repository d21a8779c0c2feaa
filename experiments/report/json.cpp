#include "experiments/report/json.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/arm_notes.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/over_tasks.hpp"
#include "experiments/report/problem_groups.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/report/variance.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/sweep/tuning.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace heed {

namespace {

namespace json = boost::json;

json::array problems_array(const ReportData& report) {
  json::array out;
  for (const ProblemGroup& group : problem_groups(report)) {
    json::array seeds, texts, runs;
    for (const ReportRun* run : group.runs) {
      seeds.emplace_back(run->seed);
      texts.push_back(json::string(run->seed_text()));
      runs.emplace_back(run->id);
    }
    out.push_back(json::object{{"arm", group.arm->true_label()},
                               {"state", group.state()},
                               {"report_label", report_label(*group.arm)},
                               {"seeds", std::move(seeds)},
                               {"seed_texts", std::move(texts)},
                               {"reason", group.reason()},
                               {"runs", std::move(runs)}});
  }
  return out;
}

/// Of a report with one arm: what its runs measured, as a table shows it.
json::array measured_array(const ReportData& report) {
  json::array out;
  for (const Measured& measured : measured_values(report))
    out.push_back(json::object{{"metric", metric_json(measured.metric)},
                               {"n", measured.n},
                               {"mean", json_number(measured.mean)},
                               {"standard_deviation", json_number(measured.standard_deviation)},
                               {"text", measured.text()}});
  return out;
}

/// The difference divided by half the width of its interval: how clearly an arm differs from its reference.
double clearness(const statistics::Comparison& c) {
  const std::optional<double> half = half_width(c);
  if (c.difference.mean == 0 || !half) return 0;
  return *half > 0 ? std::abs(c.difference.mean) / *half : std::numeric_limits<double>::infinity();
}

int rank(const ReportArm& arm, const Metric& metric) {
  const AnswerWord answer = answer_word(arm.comparison, metric);
  if (is_difference(answer)) return 0;
  if (answer == AnswerWord::same || answer == AnswerWord::equal || answer == AnswerWord::not_worse) return 1;
  return answer == AnswerWord::none ? 3 : 2;
}

json::array clearest_first(const ReportData& report) {
  std::vector<std::size_t> order(report.arms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const ReportArm &left = report.arms[a], &right = report.arms[b];
    const int ranks[] = {rank(left, report.metric), rank(right, report.metric)};
    if (ranks[0] != ranks[1]) return ranks[0] < ranks[1];
    return left.comparison && right.comparison && clearness(*left.comparison) > clearness(*right.comparison);
  });
  return json::array(order.begin(), order.end());
}

json::value progress_of(const ReportData& report) {
  json::object progress{{"sentence", progress_sentence(report)}, {"total", report.total()}};
  for (const RunState state : {RunState::finished, RunState::running, RunState::queued, RunState::interrupted,
                               RunState::failed, RunState::missing})
    progress[name_of(state)] = report.count(state);
  progress["left_out"] = report.left_out();
  progress["gone"] = report.gone();
  progress["no_row"] = report.no_row();
  return progress;
}

/// The tuning of each arm: a value for each point of the grid, and the choice.
/// @param decimals  of the texts
json::value tuning_of(const ReportData& report, int decimals) {
  if (!report.tuning) return nullptr;
  const Tuning& tuning = *report.tuning;
  json::array options, points, arms;
  for (const TunedOption& option : tuning.options) options.emplace_back(option.key);
  for (const Trial& trial : tuning.arms.front().trials) points.emplace_back(short_words(trial));
  for (const ArmTuning& arm : tuning.arms) {
    json::array values, values_texts, problems;
    for (const Trial& trial : arm.trials) {
      values.push_back(json_number(trial.value));
      values_texts.push_back(json::string(fixed(trial.value, decimals)));
      problems.emplace_back(trial.problem);
    }
    bool edge = false;
    if (arm.chosen)
      for (std::size_t i = 0; i < tuning.options.size(); ++i)
        edge = edge || on_edge(tuning.options[i], arm.trials[*arm.chosen].point[i].value);
    arms.push_back(json::object{{"values", std::move(values)},
                                {"texts", std::move(values_texts)},
                                {"problems", std::move(problems)},
                                {"chosen", arm.chosen ? json::value(*arm.chosen) : json::value(nullptr)},
                                {"edge", edge}});
  }
  return json::object{{"options", std::move(options)},
                      {"seeds", json_list(tuning.seeds)},
                      {"points", std::move(points)},
                      {"arms", std::move(arms)}};
}

json::value planned_of(const ReportData& report) {
  if (!report.frozen) return nullptr;
  return json::object{{"at", report.frozen->at},
                      {"finished", report.frozen->finished},
                      {"runs", report.frozen->runs},
                      {"earlier", json::value_from(report.earlier)}};
}

/// The table that the results were read from; null for a sweep.
json::value table_of(const ReportData& report) {
  if (!report.table) return nullptr;
  const auto& paired_by = report.table->paired_by;
  return json::object{{"file", report.table->file},
                      {"paired_by", paired_by.empty() ? json::value(nullptr) : json::value(paired_by)},
                      {"columns", report.table->columns}};
}

/// The planned looks; null if there are none.
json::value looks_object(const ReportData& report) {
  if (report.looks.empty()) return nullptr;
  json::array out;
  const std::vector<double> levels = statistics::look_levels(report.looks);
  for (std::size_t k = 0; k < levels.size(); ++k)
    out.push_back(json::object{{"seeds", report.looks[k]},
                               {"level", json_number(levels[k])},
                               {"reached", report.looks[k] <= report.seeds_looked_at()}});
  return out;
}

/// The chance level in the report's metric.
json::value chance_of(const ReportData& report) {
  if (report.arms.empty()) return nullptr;
  const std::optional<Task::Level> chance = chance_level(report, report.arms.front());
  if (!chance) return nullptr;
  return json::object{{"value", json_number(chance->value)}, {"how", chance->how}};
}

/// [report.label]: texts by the name of a metric or an arm.
json::object labels_of(const ReportData& report) {
  json::object out;
  for (const auto& [name, label] : report.labels) out[name] = label;
  return out;
}

/// Each further metric with the arms' results.
json::array further_metrics(const ReportData& report) {
  json::array out;
  each_further_metric(report, [&](std::size_t, const ReportData& further) {
    const TableDigits digits(further);
    json::array arms;
    for (const ReportArm& arm : further.arms)
      arms.push_back(json::object{
          {"label", arm.true_label()},
          {"report_label", report_label(arm)},
          {"answer", further.is_reference(arm) ? json::value(nullptr)
                                               : json::value(name_of(answer_word(arm.comparison, further.metric)))},
          {"sentence",
           further.is_reference(arm) ? json::value(nullptr) : json::value(answer_sentence(further, arm, digits))},
          {"n", arm.values},
          {"mean", json_number(arm.mean)},
          {"standard_deviation", json_number(arm.standard_deviation)},
          {"comparison", arm.comparison ? comparison_json(*arm.comparison, further.metric, digits.of(arm).difference)
                                        : json::value(nullptr)},
          {"earlier_look_text", json::string(earlier_look_text(further, arm))},
          {"digits", json_digits(digits.of(arm))},
          {"texts", json::object{{"mean", fixed(arm.mean, digits.of(arm).value)},
                                 {"spread", spread_text(arm.standard_deviation, digits.of(arm).value)}}},
          {"difference_texts", difference_texts(arm, further.metric, digits.of(arm))}});
    out.push_back(json::object{{"metric", metric_json(further.metric)},
                               {"note", further_note(further.metric, report.asks_not_worse())},
                               {"digits", json_digits(digits.common())},
                               {"arms", std::move(arms)}});
  });
  return out;
}

/// @param decimals  of the differences
json::array interactions_array(const ReportData& report, int decimals) {
  json::array out;
  for (const Interaction& interaction : report.interactions)
    out.push_back(json::object{{"option", interaction.true_option},
                               {"with", interaction.true_with},
                               {"without", interaction.without},
                               {"group", interaction.group},
                               {"effect_without", json_number(interaction.effect_without)},
                               {"effect_with", json_number(interaction.effect_with)},
                               {"comparison", comparison_json(interaction.comparison, report.metric, decimals)},
                               {"answer", name_of(answer_word(interaction.comparison, report.metric))},
                               {"sentence", interaction_sentence(report, interaction)}});
  return out;
}

/// The table of the report's metric, then those of the further metrics.
json::array tables_array(const ReportData& report) {
  json::array out{table_json(arm_table(report))};
  each_further_metric(report,
                      [&](std::size_t, const ReportData& further) { out.push_back(table_json(arm_table(further))); });
  return out;
}

} // namespace

void write_report(const ReportData& report, std::vector<document::Figure> figures, std::size_t every,
                  ReportMembers& out) {
  json::array machines;
  const TableDigits digits(report);
  const std::vector<std::string> lengths = length_metrics(report);
  for (const ReportMachine& machine : report.machines)
    machines.push_back(json::object{{"description", machine.description}, {"runs", machine.runs}});
  out.member("format", "heed report");
  out.member("version", 3);
  out.member("name", json::value(report.name));
  out.member("hash", json::value(report.hash));
  out.member("question", json::value(report.question));
  out.member("planned", json::value(planned_of(report)));
  out.member("table", json::value(table_of(report)));
  out.member("sweep", json::value(report.sweep));
  out.member("folder", json::value(report.folder.string()));
  out.member("out", json::value(report.out.string()));
  out.member("seeds", json_list(report.seeds));
  out.member("looks", json::value(looks_object(report)));
  out.member("confidence_text", json::value(confidence_text(report)));
  out.member("progress", json::value(progress_of(report)));
  out.member("metric", metric_json(report.metric));
  out.member("curve_metric", metric_json(report.curve_metric()));
  out.member("metric_at_lengths", json::value(metric_at_lengths(report)));
  out.member("also", json::value(further_metrics(report)));
  out.member("margin", json_number(report.margin));
  if (report.asks_not_worse()) out.member("asked", "not worse");
  out.member("test", report.test == statistics::Test::unpaired ? "unpaired" : "paired");
  out.member("digits", json_digits(digits.common()));
  out.member("problems", json::value(problems_array(report)));
  out.member("measured", json::value(measured_array(report)));
  out.member("warnings", json_list(provenance_warnings(report)));
  out.member("notes", notes_json(report_notes(report)));
  out.member("limits", json_list(limit_sentences(report)));
  out.member("chance", json::value(chance_of(report)));
  out.member("tables", json::value(tables_array(report)));
  out.member("figures", figures_json(std::exchange(figures, {})));
  out.member("interactions", interactions_array(report, digits.common().difference));
  out.member("variance", variance_json(report));
  if (report.over) out.member("over", over_tasks_json(report));
  out.member("machines", std::move(machines));
  out.member("data", json::value(report.data));
  out.member("reference_config", json::value(report.reference_config));
  out.member("within", json::value_from(report.within));
  out.member("tuning", tuning_of(report, digits.common().value));
  out.member("labels", json::value(labels_of(report)));
  out.member("clearest", json::value(clearest_first(report)));
  out.begin("arms");
  for (const ReportArm& arm : report.arms) out.item(arm_json(report, arm, digits, lengths));
  out.end();
  if (every > 1) out.member("thinned", json::value(thinning_sentence(every)));
}

json::object report_document(const ReportData& report, std::size_t every) {
  class Document final : public ReportMembers {
  public:
    void member(std::string_view key, json::value value) override { object_[key] = std::move(value); }
    void begin(std::string_view key) override { array_ = &object_[key].emplace_array(); }
    void item(json::value value) override { array_->push_back(std::move(value)); }
    void end() override {}
    json::object object_;

  private:
    json::array* array_ = nullptr;
  } out;
  write_report(report, report_figures(report, every), every, out);
  return std::move(out.object_);
}

} // namespace heed
