// An arm of a report as JSON: its runs, comparisons and metrics.

#include "experiments/metrics/lengths.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/arm_notes.hpp"
#include "experiments/report/attention_maps.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/described_json.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <fmt/format.h>
#include <utility>

namespace heed {

BOOST_DESCRIBE_STRUCT(BandPoint, (), (at, runs, mean, low, high, standard_deviation))

namespace {

namespace json = boost::json;

/// The arm's name below the heading of its group, where [report.label] gives it one.
json::value report_name(const ReportArm& arm) {
  return text_or_null(arm.short_label() == arm.true_short_label() ? "" : arm.short_label());
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
                      {"bytes", known(arm.cost->bytes)},
                      {"state_size", arm.cost->state_size ? json::value(*arm.cost->state_size) : json::value(nullptr)}};
}

/// @param decimals  of the texts, mean and spread of each point
json::object band_of(const std::vector<BandPoint>& band, std::string_view axis, int decimals) {
  json::object out;
  described::add_lists(out, band, axis);
  json::array& texts = out["texts"].emplace_array();
  for (const BandPoint& point : band)
    texts.push_back(json::array{json::string(fixed(point.mean, decimals)),
                                json::string(spread_text(point.standard_deviation, decimals))});
  return out;
}

json::value band_by_length(const ReportArm& arm, std::string_view metric) {
  const std::vector<BandPoint> band = length_band(arm, metric);
  if (band.empty()) return nullptr;
  json::object out = band_of(band, "length", 3);
  out["metric"] = metric;
  return out;
}

/// Each metric on sequences of the lengths of [train] evaluate_lengths.
/// @param metrics  length_metrics(report)
json::array at_lengths_of(const ReportArm& arm, const std::vector<std::string>& metrics) {
  json::array out;
  for (const std::string& metric : metrics)
    if (json::value lengths = band_by_length(arm, metric); metric != by_length_metric && !lengths.is_null())
      out.push_back(std::move(lengths));
  return out;
}

json::value run_of(const ReportRun& run, int decimals) {
  json::array step, value;
  for (const CurvePoint& point : run.curve) {
    step.emplace_back(point.step);
    value.push_back(json_number(point.value));
  }
  return json::object{{"id", run.id},
                      {"seed", run.seed},
                      {"seed_text", run.seed_text()},
                      {"state", run.status()},
                      {"value", json_number(run.value)},
                      {"seconds", json_number(run.seconds)},
                      {"texts", json::object{{"value", fixed(run.value, decimals)},
                                             {"seconds", run.seconds > 0 ? duration(run.seconds) : "-"}}},
                      {"problem", run.problem},
                      {"folder", run.folder.string()},
                      {"curve", json::object{{"step", std::move(step)}, {"value", std::move(value)}}},
                      {"attention", attention_array(run.attention)},
                      {"attention_problem", run.attention_problem},
                      {"examples_problem", run.examples_problem}};
}

json::value over_examples_json(const std::optional<statistics::OverExamples>& over) {
  if (!over) return nullptr;
  return json::object{{"difference", json_number(over->mean)},
                      {"interval", json::array{json_number(over->interval.low), json_number(over->interval.high)}},
                      {"freedom", json_number(over->freedom)},
                      {"examples", over->examples},
                      {"share_of_examples", json_number(over->share_of_examples)}};
}

/// A time that may be short, with three digits: "1.24 ms", "12.5 s"; from one minute, as `duration`.
std::string short_time(double seconds) {
  if (seconds >= 59.95) return duration(seconds);
  if (!(seconds > 0)) return "0 s";
  for (const auto& [size, unit] : {std::pair(1.0, "s"), std::pair(1e-3, "ms"), std::pair(1e-6, "µs")})
    if (seconds >= 0.9995 * size) return fmt::format("{:.3g} {}", seconds / size, unit);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::optional<double> seconds_deviation(const ReportArm& arm) {
  std::vector<double> seconds;
  for (const ReportRun& run : arm.runs)
    if (run.state == RunState::finished && run.seconds > 0) seconds.push_back(run.seconds);
  return statistics::standard_deviation(seconds);
}

/// One measure of an arm's cost, and its text; empty if unknown.
struct CostMeasure {
  const char* name;
  std::optional<double> (*of)(const ReportArm&);
  std::string (*text)(double);
};

constexpr auto planned = [](const ReportArm& arm, auto member) {
  const double amount = arm.cost ? static_cast<double>((*arm.cost).*member) : 0;
  return amount > 0 ? std::optional(amount) : std::nullopt;
};

const CostMeasure cost_measures[] = {
    {"time", [](const ReportArm& arm) { return arm.seconds > 0 ? std::optional(arm.seconds) : std::nullopt; },
     short_time},
    {"memory", [](const ReportArm& arm) { return planned(arm, &PlannedCost::bytes); },
     [](double bytes) { return scaled(bytes, "B"); }},
    {"parameters", [](const ReportArm& arm) { return planned(arm, &PlannedCost::parameters); },
     [](double count) { return with_commas(static_cast<std::int64_t>(count)); }},
    {"flops", [](const ReportArm& arm) { return planned(arm, &PlannedCost::flops_per_step); },
     [](double flops) { return scaled(flops, ""); }},
    {"state_size",
     [](const ReportArm& arm) {
       return arm.cost && arm.cost->state_size ? std::optional(static_cast<double>(*arm.cost->state_size))
                                               : std::nullopt;
     },
     [](double numbers) { return with_commas(static_cast<std::int64_t>(numbers)); }},
};

std::string ratio_text(double ratio) { return fixed(ratio, 3) + " ×"; }

/// @param deviation  of the runs' seconds
json::object arm_texts(const ReportArm& arm, const ReportArm& reference, std::optional<double> deviation,
                       const Digits& digits, const Digits& common) {
  json::object texts{{"mean", fixed(arm.mean, digits.value)},
                     {"spread", spread_text(arm.standard_deviation, digits.value)},
                     {"common_mean", fixed(arm.mean, common.value)},
                     {"seconds", arm.seconds > 0 ? duration(arm.seconds) : "-"}};
  json::object differences, ratios;
  if (arm.mean && reference.mean && *reference.mean > 0) {
    const double scale = *reference.mean;
    ratios["metric"] = ratio_text(*arm.mean / scale);
    if (arm.standard_deviation) ratios["metric_spread"] = spread_text(*arm.standard_deviation / scale, 3);
  }
  if (deviation) texts["time_spread"] = "± " + short_time(*deviation);
  for (const CostMeasure& cost : cost_measures) {
    const std::optional<double> value = cost.of(arm), base = cost.of(reference);
    if (!value) continue;
    texts[cost.name] = cost.text(*value);
    if (!base) continue;
    const double by = *value - *base;
    differences[cost.name] = (by < 0 ? "-" : by > 0 ? "+" : "") + cost.text(std::abs(by));
    if (*base <= 0) continue;
    ratios[cost.name] = ratio_text(*value / *base);
    if (cost.name == std::string_view("time") && deviation) ratios["time_spread"] = spread_text(*deviation / *base, 3);
  }
  texts["differences"] = std::move(differences);
  texts["ratios"] = std::move(ratios);
  return texts;
}

json::value estimate(const std::optional<statistics::Estimate>& of) {
  if (!of) return nullptr;
  return json::object{{"value", json_number(of->value)}, {"interval", json_interval(of->interval)}};
}

json::value probability_or_null(std::optional<double> p) {
  return p && std::isfinite(*p) ? json::value(probability(*p)) : json::value(nullptr);
}

/// Another interval of a comparison, with the digits of the arm.
std::string other_interval(double difference, const std::optional<statistics::Interval>& interval, int decimals) {
  if (!interval) return "";
  const Decimals shown = decimals_showing({difference, interval->low, interval->high}, decimals);
  return fmt::format("[{}, {}]", signed_fixed(interval->low, shown), signed_fixed(interval->high, shown));
}

std::string interquartile_text(const statistics::Estimate& of, int decimals) {
  const Decimals shown = of.interval ? decimals_showing({of.value, of.interval->low, of.interval->high}, decimals)
                                     : decimals_showing({of.value}, decimals);
  return signed_fixed(of.value, shown) + " " + other_interval(of.value, of.interval, decimals);
}

json::object other_texts(const statistics::Comparison& c, int decimals) {
  const double mean = c.difference.mean;
  const Decimals size = decimals_showing({mean}, decimals);
  return {{"flips", other_interval(mean, c.interval_flips, decimals)},
          {"student", other_interval(mean, c.difference.interval, decimals)},
          {"interquartile", c.interquartile ? interquartile_text(*c.interquartile, decimals) : ""},
          {"correlation", c.correlation ? fixed(c.correlation, 2) : ""},
          {"effect_size", fixed(c.effect_size, 2)},
          {"improvement", c.improvement ? fixed(c.improvement->value, 2) : ""},
          {"ends", json::array{json::string(signed_fixed(-std::abs(mean), size)),
                               json::string(signed_fixed(std::abs(mean), size))}}};
}

} // namespace

json::object arm_json(const ReportData& report, const ReportArm& arm, const TableDigits& table,
                      const std::vector<std::string>& length_metrics) {
  poll_caller();
  const Digits digits = table.of(arm), common = table.common();
  const std::optional<double> deviation = seconds_deviation(arm);
  const int curve_decimals = report.curve_metric().name == report.metric.name ? common.value : 4;
  json::array differences, runs;
  for (const Difference& difference : arm.differences)
    differences.push_back(json::object{{"key", difference.key}, {"reference", difference.a}, {"arm", difference.b}});
  PolledWork work;
  for (const ReportRun& run : arm.runs) {
    work.did(2000 + 64 * run.curve.size());
    runs.push_back(run_of(run, digits.value));
  }
  const bool reference = report.is_reference(arm);
  return json::object{
      {"label", arm.true_label()},
      {"report_label", report_label(arm)},
      {"against", arm.reference},
      {"group", json_list(arm.group)},
      {"name", arm.true_short_label()},
      {"report_name", report_name(arm)},
      {"changes", json::value_from(arm.changes)},
      {"answer", reference ? json::value(nullptr) : json::value(name_of(answer_word(arm.comparison, report.metric)))},
      {"sentence", reference ? json::value(nullptr) : json::value(answer_sentence(report, arm, table))},
      {"n", arm.values},
      {"mean", json_number(arm.mean)},
      {"standard_deviation", json_number(arm.standard_deviation)},
      {"interquartile_mean", json_number(arm.interquartile_mean)},
      {"comparison",
       arm.comparison ? comparison_json(*arm.comparison, report.metric, digits.difference) : json::value(nullptr)},
      {"digits", json_digits(digits)},
      {"difference_texts", difference_texts(arm, report.metric, digits)},
      {"look", arm.look == 0 ? json::value(nullptr) : json::value(arm.look)},
      {"earlier_look_text", json::string(earlier_look_text(report, arm))},
      {"missing_answer", json::string(missing_answer(arm))},
      {"smallest_effect", json_number(arm.smallest_found)},
      {"learned", learned_of(arm)},
      {"over_examples", over_examples_json(arm.over_examples)},
      {"p_failed_worst", json_number(arm.p_failed_worst)},
      {"p_choices", json_number(arm.p_choices)},
      {"other_choices", arm.p_choices ? json_number(arm.other_choices) : json::value(nullptr)},
      {"later", arm.later ? comparison_json(*arm.later, report.metric, digits.difference) : json::value(nullptr)},
      {"cost", cost_object(arm)},
      {"seconds", arm.seconds > 0 ? json_number(arm.seconds) : json::value(nullptr)},
      {"seconds_deviation", json_number(deviation)},
      {"texts", arm_texts(arm, report.arms[arm.reference], deviation, digits, common)},
      {"limit", place_of(limit_of(report, arm))},
      {"curve", band_of(curve_band(arm), "step", curve_decimals)},
      {"training_curve", band_of(training_band(arm), "step", 4)},
      {"validation_curve", band_of(validation_band(arm), "step", 4)},
      {"by_length", band_by_length(arm, by_length_metric)},
      {"at_lengths", at_lengths_of(arm, length_metrics)},
      {"training_length", arm.training_length ? json::value(*arm.training_length) : json::value(nullptr)},
      {"config", arm.config},
      {"differences", std::move(differences)},
      {"runs", std::move(runs)}};
}

json::object comparison_json(const statistics::Comparison& c, const Metric& metric, int decimals) {
  json::object out{
      {"seeds", json_list(c.seeds)},
      {"pairs", c.difference.pairs},
      {"difference", json_number(c.difference.mean)},
      {"equal_text", equal_in_all_seeds(c) ? json::value(equal_words(c)) : json::value(nullptr)},
      {"constant", c.constant},
      {"interval", json_interval(c.interval)},
      {"interval_flips", json_interval(c.interval_flips)},
      {"interval_student", json_interval(c.difference.interval)},
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
      {"p_equivalence", json_number(c.p_equivalence)},
      {"p_equivalence_flips", json_number(c.p_equivalence_flips)},
      {"p_equivalence_flips_text", probability_or_null(c.p_equivalence_flips)},
      {"is_equivalent", c.margin ? json::value(c.answer == statistics::Answer::same || c.equal) : json::value(nullptr)},
      {"answer", name_of(answer_word(c, metric))},
      {"side", verdict_of(c, metric, decimals).side},
      {"texts", other_texts(c, decimals)}};
  if (const auto& of = c.noninferiority) {
    json::object& texts = out["texts"].as_object();
    texts["p_better"] = probability(of->p_better);
    texts["p_worse"] = of->p_worse ? probability(*of->p_worse) : "";
    out["noninferiority"] = json::object{
        {"margin", json_number(of->margin)},   {"difference", json_number(of->difference)},
        {"bound", json_number(of->bound)},     {"p_better", json_number(of->p_better)},
        {"p_worse", json_number(of->p_worse)}, {"only_better", of->only_better}};
  }
  return out;
}

json::object metric_json(const Metric& metric) {
  const auto sides = side_words(metric.direction);
  return json::object{
      {"name", metric.name},
      {"report_label", text_or_null(metric.label)},
      {"higher_is_better", metric.is_goal() ? json::value(metric.higher_is_better()) : json::value(nullptr)},
      {"direction", in_words(metric.direction)},
      {"unit", metric.unit},
      {"range", json::array{json_number(metric.low), json_number(metric.high)}},
      {"sides", json::array{json::string(sides[0]), json::string(sides[1])}},
      {"meaning", metric.description}};
}

json::array difference_texts(const ReportArm& arm, const Metric& metric, const Digits& digits) {
  if (!arm.comparison) return {};
  const Verdict verdict = verdict_of(*arm.comparison, metric, digits.difference);
  return {json::string(verdict.difference), json::string(verdict.interval)};
}

} // namespace heed
