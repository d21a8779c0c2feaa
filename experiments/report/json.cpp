#include "experiments/report/json.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/arm_table.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/digits.hpp"
#include "experiments/report/document_json.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/exact_ties.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/measured.hpp"
#include "experiments/report/problem_groups.hpp"
#include "experiments/report/provenance.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/verdict.hpp"
#include "experiments/statistics/spending.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/polling.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <string_view>

namespace heed {

namespace {

namespace json = boost::json;

json::value json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? json::value(*value) : json::value(nullptr);
}

json::value interval(const std::optional<statistics::Interval>& of) {
  if (!of) return nullptr;
  return json::array{json_number(of->low), json_number(of->high)};
}

json::value estimate(const std::optional<statistics::Estimate>& of) {
  if (!of) return nullptr;
  return json::object{{"value", json_number(of->value)}, {"interval", interval(of->interval)}};
}

json::array texts(const std::vector<std::string>& of) { return json::array(of.begin(), of.end()); }

json::array integers(const std::vector<std::int64_t>& of) { return json::array(of.begin(), of.end()); }

json::value probability_or_null(std::optional<double> p) {
  return p && std::isfinite(*p) ? json::value(probability(*p)) : json::value(nullptr);
}

json::value comparison_of(const statistics::Comparison& c, const Metric& metric) {
  return json::object{
      {"seeds", integers(c.seeds)},
      {"pairs", c.difference.pairs},
      {"difference", json_number(c.difference.mean)},
      {"equal_text", equal_in_all_seeds(c) ? json::value(equal_words(c)) : json::value(nullptr)},
      {"interval", interval(c.interval)},
      {"interval_flips", interval(c.interval_flips)},
      {"interval_student", interval(c.difference.interval)},
      {"confidence", json_number(c.difference.confidence)},
      {"level", json_number(c.level)},
      {"standard_deviation", json_number(c.difference.standard_deviation)},
      {"interquartile", estimate(c.interquartile)},
      {"effect_size", json_number(c.effect_size)},
      {"correlation", json_number(c.correlation)},
      {"improvement", estimate(c.improvement)},
      {"p", json_number(c.p)},
      {"p_text", probability_or_null(c.p)},
      {"exact", c.exact},
      {"ranked", c.ranked},
      {"rank_difference", c.ranked ? json_number(c.rank_difference) : json::value(nullptr)},
      {"contradicts", c.contradicts},
      {"p_spreads", json_number(c.p_spreads)},
      {"p_flip", json_number(c.p_flip)},
      {"p_holm", json_number(c.p_holm)},
      {"margin", json_number(c.margin)},
      {"interval_equivalence", interval(c.equivalence)},
      {"p_equivalence", json_number(c.p_equivalence)},
      {"p_equivalence_flips", json_number(c.p_equivalence_flips)},
      {"p_equivalence_flips_text", probability_or_null(c.p_equivalence_flips)},
      {"is_equivalent", c.margin ? json::value(c.answer == statistics::Answer::same || c.equal) : json::value(nullptr)},
      {"answer", name_of(answer_word(c, metric))}};
}

json::value text_or_null(const std::string& text) { return text.empty() ? json::value(nullptr) : json::value(text); }

/// The arm's label in the report, where [report.label] gives it one.
json::value report_label(const ReportArm& arm) { return text_or_null(arm.own_label.empty() ? "" : arm.label); }

json::object metric_object(const Metric& metric) {
  return json::object{
      {"name", metric.name},
      {"report_label", text_or_null(metric.label)},
      {"higher_is_better", metric.is_goal() ? json::value(metric.higher_is_better()) : json::value(nullptr)},
      {"direction", in_words(metric.direction)},
      {"unit", metric.unit},
      {"range", json::array{json_number(metric.low), json_number(metric.high)}},
      {"meaning", metric.description}};
}

json::value learned_of(const ReportArm& arm) {
  if (!arm.learned) return nullptr;
  const LearnedSeeds& learned = *arm.learned;
  const auto share = [](const Learned& of) { return json::object{{"seeds", of.seeds}, {"of", of.of}}; };
  return json::object{
      {"from", json_number(learned.threshold)}, {"found", learned.found},      {"arm", share(learned.arm)},
      {"reference", share(learned.reference)},  {"p", json_number(learned.p)}, {"corrected_for", learned.arms}};
}

json::value cost_object(const ReportArm& arm) {
  if (!arm.cost) return nullptr;
  const auto known = [](double amount) { return amount > 0 ? json_number(amount) : json::value(nullptr); };
  return json::object{{"parameters", arm.cost->parameters},
                      {"flops_per_step", known(arm.cost->flops_per_step)},
                      {"bytes", known(arm.cost->bytes)}};
}

json::object band_of(const std::vector<BandPoint>& band, std::string_view axis) {
  json::array at, runs, mean, low, high, spread;
  for (const BandPoint& point : band) {
    at.emplace_back(point.at);
    runs.emplace_back(point.runs);
    mean.push_back(json_number(point.mean));
    low.push_back(json_number(point.low));
    high.push_back(json_number(point.high));
    spread.push_back(json_number(point.standard_deviation));
  }
  return json::object{{axis, std::move(at)},   {"runs", std::move(runs)}, {"mean", std::move(mean)},
                      {"low", std::move(low)}, {"high", std::move(high)}, {"standard_deviation", std::move(spread)}};
}

json::value band_by_length(const ReportArm& arm, std::string_view metric) {
  const std::vector<BandPoint> band = length_band(arm, metric);
  if (band.empty()) return nullptr;
  json::object out = band_of(band, "length");
  out["metric"] = metric;
  return out;
}

/// Each metric on rows of the lengths of [train] evaluate_lengths.
/// @param metrics  length_metrics(report)
json::array at_lengths_of(const ReportArm& arm, const std::vector<std::string>& metrics) {
  json::array out;
  for (const std::string& metric : metrics)
    if (json::value lengths = band_by_length(arm, metric); metric != by_length_metric && !lengths.is_null())
      out.push_back(std::move(lengths));
  return out;
}

json::value run_of(const ReportRun& run, const Thinning& thinning) {
  json::array step, value;
  for (const CurvePoint& point : thinned(run.curve, thinning.runs)) {
    step.emplace_back(point.step);
    value.push_back(json_number(point.value));
  }
  return json::object{{"id", run.id},
                      {"seed", run.seed},
                      {"seed_text", run.seed_text()},
                      {"state", run.standing()},
                      {"value", json_number(run.value)},
                      {"seconds", json_number(run.seconds)},
                      {"problem", run.problem},
                      {"folder", run.folder.string()},
                      {"curve", json::object{{"step", std::move(step)}, {"value", std::move(value)}}},
                      {"attention", attention_array(run.attention)},
                      {"attention_problem", run.attention_problem}};
}

json::object object_of(const Digits& digits) {
  return json::object{{"value", digits.value}, {"difference", digits.difference}};
}

json::array problems_array(const ReportData& report) {
  json::array out;
  for (const ProblemGroup& group : problem_groups(report)) {
    json::array seeds, runs;
    for (const ReportRun* run : group.runs) {
      seeds.emplace_back(run->seed);
      runs.emplace_back(run->id);
    }
    out.push_back(json::object{{"arm", group.arm->true_label()},
                               {"state", group.state()},
                               {"seeds", std::move(seeds)},
                               {"reason", group.reason()},
                               {"runs", std::move(runs)}});
  }
  return out;
}

/// Of a report with one arm: what its runs measured, as a table shows it.
json::array measured_array(const ReportData& report) {
  json::array out;
  for (const Measured& measured : measured_values(report))
    out.push_back(json::object{{"metric", metric_object(measured.metric)},
                               {"n", measured.n},
                               {"mean", json_number(measured.mean)},
                               {"standard_deviation", json_number(measured.standard_deviation)},
                               {"text", measured.text()}});
  return out;
}

/// A difference and its interval as tables show them.
json::array difference_texts(const ReportArm& arm, const Metric& metric, const Digits& digits) {
  if (!arm.comparison) return {};
  const Verdict verdict = verdict_of(*arm.comparison, metric, digits.difference);
  return {json::string(verdict.difference), json::string(verdict.interval)};
}

json::value arm_of(const ReportData& report, const ReportArm& arm, const TableDigits& table,
                   const std::vector<std::string>& length_metrics, const Thinning& thinning) {
  const Digits digits = table.of(arm);
  json::array changes, differences, runs;
  for (const PlannedChange& change : arm.changes)
    changes.push_back(json::object{{"key", change.key}, {"value", change.value}});
  for (const Difference& difference : arm.differences)
    differences.push_back(json::object{{"key", difference.key}, {"reference", difference.a}, {"arm", difference.b}});
  PolledWork work;
  for (const ReportRun& run : arm.runs) {
    work.did(2000 + 64 * run.curve.size());
    runs.push_back(run_of(run, thinning));
  }
  const bool reference = report.is_reference(arm);
  return json::object{
      {"label", arm.true_label()},
      {"report_label", report_label(arm)},
      {"against", arm.reference},
      {"group", texts(arm.group)},
      {"name", arm.true_name().empty() ? arm.true_label() : arm.true_name()},
      {"changes", std::move(changes)},
      {"answer", reference ? json::value(nullptr) : json::value(name_of(answer_word(arm.comparison, report.metric)))},
      {"sentence", reference ? json::value(nullptr) : json::value(answer_sentence(report, arm, table))},
      {"n", arm.values},
      {"mean", json_number(arm.mean)},
      {"standard_deviation", json_number(arm.standard_deviation)},
      {"interquartile_mean", json_number(arm.interquartile_mean)},
      {"comparison", arm.comparison ? comparison_of(*arm.comparison, report.metric) : json::value(nullptr)},
      {"digits", object_of(digits)},
      {"difference_texts", difference_texts(arm, report.metric, digits)},
      {"look", arm.look == 0 ? json::value(nullptr) : json::value(arm.look)},
      {"earlier_look_text", json::string(earlier_look_text(report, arm))},
      {"missing_answer", json::string(missing_answer(arm))},
      {"smallest_effect", json_number(arm.smallest_found)},
      {"learned", learned_of(arm)},
      {"p_failed_worst", json_number(arm.p_failed_worst)},
      {"p_choices", json_number(arm.p_choices)},
      {"other_choices", arm.p_choices ? json_number(arm.other_choices) : json::value(nullptr)},
      {"later", arm.later ? comparison_of(*arm.later, report.metric) : json::value(nullptr)},
      {"cost", cost_object(arm)},
      {"seconds", arm.seconds > 0 ? json_number(arm.seconds) : json::value(nullptr)},
      {"curve", band_of(thinned(curve_band(arm), thinning.bands), "step")},
      {"training_curve", band_of(thinned(training_band(arm), thinning.bands), "step")},
      {"validation_curve", band_of(thinned(validation_band(arm), thinning.bands), "step")},
      {"by_length", band_by_length(arm, by_length_metric)},
      {"at_lengths", at_lengths_of(arm, length_metrics)},
      {"training_length", arm.training_length ? json::value(*arm.training_length) : json::value(nullptr)},
      {"config", arm.config},
      {"differences", std::move(differences)},
      {"runs", std::move(runs)}};
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
json::value tuning_of(const ReportData& report) {
  if (!report.tuning) return nullptr;
  const Tuning& tuning = *report.tuning;
  json::array options, points, arms;
  for (const TunedOption& option : tuning.options) options.emplace_back(option.key);
  for (const Trial& trial : tuning.arms.front().trials) points.emplace_back(short_words(trial));
  for (const ArmTuning& arm : tuning.arms) {
    json::array values, problems;
    for (const Trial& trial : arm.trials) {
      values.push_back(json_number(trial.value));
      problems.emplace_back(trial.problem);
    }
    bool edge = false;
    if (arm.chosen)
      for (std::size_t i = 0; i < tuning.options.size(); ++i)
        edge = edge || on_edge(tuning.options[i], arm.trials[*arm.chosen].point[i].value);
    arms.push_back(json::object{{"values", std::move(values)},
                                {"problems", std::move(problems)},
                                {"chosen", arm.chosen ? json::value(*arm.chosen) : json::value(nullptr)},
                                {"edge", edge}});
  }
  return json::object{{"options", std::move(options)},
                      {"seeds", integers(tuning.seeds)},
                      {"points", std::move(points)},
                      {"arms", std::move(arms)}};
}

json::value planned_of(const ReportData& report) {
  if (!report.frozen) return nullptr;
  json::array earlier;
  for (const EarlierSweep& sweep : report.earlier)
    earlier.push_back(json::object{
        {"name", sweep.name}, {"at", sweep.at}, {"shared", sweep.shared}, {"changes", texts(sweep.changes)}});
  return json::object{{"at", report.frozen->at},
                      {"finished", report.frozen->finished},
                      {"runs", report.frozen->runs},
                      {"earlier", std::move(earlier)}};
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

/// Each further metric with the arms' results.
json::array further_metrics(const ReportData& report) {
  json::array out;
  each_further_metric(report, [&](std::size_t, const ReportData& further) {
    const TableDigits digits(further);
    json::array arms;
    for (const ReportArm& arm : further.arms)
      arms.push_back(json::object{
          {"label", arm.true_label()},
          {"answer", further.is_reference(arm) ? json::value(nullptr)
                                               : json::value(name_of(answer_word(arm.comparison, further.metric)))},
          {"sentence",
           further.is_reference(arm) ? json::value(nullptr) : json::value(answer_sentence(further, arm, digits))},
          {"n", arm.values},
          {"mean", json_number(arm.mean)},
          {"standard_deviation", json_number(arm.standard_deviation)},
          {"comparison", arm.comparison ? comparison_of(*arm.comparison, further.metric) : json::value(nullptr)},
          {"earlier_look_text", json::string(earlier_look_text(further, arm))},
          {"digits", object_of(digits.of(arm))},
          {"difference_texts", difference_texts(arm, further.metric, digits.of(arm))}});
    out.push_back(json::object{{"metric", metric_object(further.metric)},
                               {"note", further_note(further.metric)},
                               {"digits", object_of(digits.common())},
                               {"arms", std::move(arms)}});
  });
  return out;
}

json::array interactions_array(const ReportData& report) {
  json::array out;
  for (const Interaction& interaction : report.interactions)
    out.push_back(json::object{{"option", interaction.true_option},
                               {"with", interaction.true_with},
                               {"without", interaction.without},
                               {"group", interaction.group},
                               {"effect_without", json_number(interaction.effect_without)},
                               {"effect_with", json_number(interaction.effect_with)},
                               {"comparison", comparison_of(interaction.comparison, report.metric)},
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

json::object report_document(const ReportData& report, const Thinning& thinning) {
  json::array arms, machines, within;
  for (const PlannedOption& option : report.within)
    within.push_back(json::object{{"key", option.key}, {"name", option.name}});
  const TableDigits digits(report);
  const std::vector<std::string> lengths = length_metrics(report);
  for (const ReportArm& arm : report.arms) arms.push_back(arm_of(report, arm, digits, lengths, thinning));
  for (const ReportMachine& machine : report.machines)
    machines.push_back(json::object{{"description", machine.description}, {"runs", machine.runs}});
  json::object out{{"format", "heed report"},
                   {"version", 2},
                   {"name", report.name},
                   {"hash", report.hash},
                   {"question", report.question},
                   {"planned", planned_of(report)},
                   {"table", table_of(report)},
                   {"sweep", report.sweep},
                   {"folder", report.folder.string()},
                   {"out", report.out.string()},
                   {"seeds", integers(report.seeds)},
                   {"looks", looks_object(report)},
                   {"confidence_text", confidence_text(report)},
                   {"progress", progress_of(report)},
                   {"metric", metric_object(report.metric)},
                   {"curve_metric", metric_object(report.curve_metric())},
                   {"metric_at_lengths", metric_at_lengths(report)},
                   {"also", further_metrics(report)},
                   {"margin", json_number(report.margin)},
                   {"test", report.test == statistics::Test::unpaired ? "unpaired" : "paired"},
                   {"digits", object_of(digits.common())},
                   {"problems", problems_array(report)},
                   {"measured", measured_array(report)},
                   {"warnings", texts(provenance_warnings(report))},
                   {"notes", notes_json(report_notes(report))},
                   {"limits", texts(limit_sentences(report))},
                   {"chance", chance_of(report)},
                   {"tables", tables_array(report)},
                   {"figures", figures_json(report_figures(report, thinning.bands))},
                   {"interactions", interactions_array(report)},
                   {"machines", std::move(machines)},
                   {"data", report.data},
                   {"reference_config", report.reference_config},
                   {"within", std::move(within)},
                   {"tuning", tuning_of(report)},
                   {"arms", std::move(arms)}};
  if (thinning.any()) out["thinned"] = thinning_sentence(thinning);
  return out;
}

} // namespace heed
