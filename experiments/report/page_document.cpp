#include "experiments/report/page_document.hpp"

#include "experiments/report/digits.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/problem_groups.hpp"
#include "experiments/report/verdict.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace heed {

namespace {

namespace json = boost::json;

/// Replaces "-" by a minus sign; a text that is only "-" (no value) becomes a dash.
std::string typographic(const std::string& text) {
  if (text == "-") return "\u2013";
  std::string out;
  for (const char c : text) c == '-' ? out += "\u2212" : out += c;
  return out;
}

std::string number_text(std::optional<double> value, Decimals decimals) { return typographic(fixed(value, decimals)); }

/// "± 0.04"; empty without a spread.
std::string spread_text(std::optional<double> spread, Decimals decimals) {
  return spread && std::isfinite(*spread) ? "± " + number_text(spread, decimals) : "";
}

std::optional<double> value_or_none(const json::value& number) {
  return number.is_null() ? std::nullopt : std::optional(number.to_number<double>());
}

/// A time that may be short, with three digits: "1.24 ms", "12.5 s"; from one minute, as `duration`.
std::string short_time(double seconds) {
  if (seconds >= 59.95) return duration(seconds);
  if (!(seconds > 0)) return "0 s";
  for (const auto& [size, unit] : {std::pair(1.0, "s"), std::pair(1e-3, "ms"), std::pair(1e-6, "µs")})
    if (seconds >= 0.9995 * size) return fmt::format("{:.3g} {}", seconds / size, unit);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

/// Another interval of a comparison, with the digits of the arm.
std::string other_interval(double difference, const std::optional<statistics::Interval>& interval, int decimals) {
  if (!interval) return "";
  const Decimals shown = decimals_showing({difference, interval->low, interval->high}, decimals);
  return typographic(fmt::format("[{}, {}]", signed_fixed(interval->low, shown), signed_fixed(interval->high, shown)));
}

void add_comparison_texts(json::value& comparison, const statistics::Comparison& c, const Metric& metric,
                          int decimals) {
  const Verdict verdict = verdict_of(c, metric, decimals);
  json::object& out = comparison.as_object();
  out["side"] = verdict.side;
  const double mean = c.difference.mean;
  std::string interquartile;
  if (c.interquartile) {
    const double value = c.interquartile->value;
    const Decimals shown = c.interquartile->interval ? decimals_showing({value, c.interquartile->interval->low,
                                                                         c.interquartile->interval->high},
                                                                        decimals)
                                                     : decimals_showing({value}, decimals);
    interquartile = typographic(signed_fixed(value, shown)) + " " +
                    other_interval(value, c.interquartile->interval, decimals);
  }
  const Decimals size = decimals_showing({mean}, decimals);
  out["texts"] = json::object{{"flips", other_interval(mean, c.interval_flips, decimals)},
                              {"student", other_interval(mean, c.difference.interval, decimals)},
                              {"interquartile", interquartile},
                              {"equivalence", other_interval(mean, c.equivalence, decimals)},
                              {"correlation", c.correlation ? number_text(c.correlation, 2) : ""},
                              {"effect_size", number_text(c.effect_size, 2)},
                              {"improvement", c.improvement ? number_text(c.improvement->value, 2) : ""},
                              {"ends", json::array{json::string(typographic(signed_fixed(-std::abs(mean), size))),
                                                   json::string(typographic(signed_fixed(std::abs(mean), size)))}}};
}

/// Adds the texts [mean, spread] for each point of a curve, which may be null.
void add_point_texts(json::value& curve, int decimals) {
  if (curve.is_null()) return;
  json::array texts;
  const json::array &means = curve.at("mean").as_array(), &spreads = curve.at("standard_deviation").as_array();
  for (std::size_t i = 0; i < means.size(); ++i)
    texts.push_back(json::array{json::string(number_text(value_or_none(means[i]), decimals)),
                                json::string(spread_text(value_or_none(spreads[i]), decimals))});
  curve.as_object()["texts"] = std::move(texts);
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
};

std::string ratio_text(double ratio) { return number_text(ratio, 3) + " ×"; }

/// @param deviation  of the runs' seconds
json::object arm_texts(const ReportArm& arm, const ReportArm& reference, std::optional<double> deviation,
                       const Digits& digits, const Digits& common) {
  json::object texts{{"mean", number_text(arm.mean, digits.value)},
                     {"spread", spread_text(arm.standard_deviation, digits.value)},
                     {"common_mean", number_text(arm.mean, common.value)},
                     {"seconds", arm.seconds > 0 ? typographic(duration(arm.seconds)) : "\u2013"}};
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
    differences[cost.name] = (by < 0 ? "\u2212" : by > 0 ? "+" : "") + cost.text(std::abs(by));
    if (*base <= 0) continue;
    ratios[cost.name] = ratio_text(*value / *base);
    if (cost.name == std::string_view("time") && deviation) ratios["time_spread"] = spread_text(*deviation / *base, 3);
  }
  texts["differences"] = std::move(differences);
  texts["ratios"] = std::move(ratios);
  return texts;
}

/// The difference divided by half the width of its interval: how clearly an arm differs from its reference.
double clearness(const statistics::Comparison& c) {
  const auto& interval = c.interval ? c.interval : c.difference.interval;
  if (c.difference.mean == 0 || !interval) return 0;
  const double half = (interval->high - interval->low) / 2;
  return half > 0 ? std::abs(c.difference.mean) / half : std::numeric_limits<double>::infinity();
}

int rank(const ReportArm& arm, const Metric& metric) {
  const AnswerWord answer = answer_word(arm.comparison, metric);
  if (is_difference(answer)) return 0;
  if (answer == AnswerWord::same || answer == AnswerWord::equal) return 1;
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

void add_sides(json::value& metric, const Metric& of) {
  const auto sides = side_words(of.direction);
  metric.as_object()["sides"] = json::array{json::string(sides[0]), json::string(sides[1])};
}

void add_arm(json::value& arm, const ReportData& report, const ReportArm& of, const TableDigits& table) {
  poll_caller();
  const Digits digits = table.of(of), common = table.common();
  json::object& out = arm.as_object();
  const std::optional<double> deviation = seconds_deviation(of);
  out["texts"] = arm_texts(of, report.arms[of.reference], deviation, digits, common);
  out["seconds_deviation"] = deviation ? json::value(*deviation) : json::value(nullptr);
  out["limit"] = place_of(limit_of(report, of));
  if (of.comparison) add_comparison_texts(out["comparison"], *of.comparison, report.metric, digits.difference);
  add_point_texts(out["curve"], report.curve_metric().name == report.metric.name ? common.value : 4);
  for (const char* losses : {"training_curve", "validation_curve"}) add_point_texts(out[losses], 4);
  add_point_texts(out["by_length"], 3);
  for (json::value& lengths : out["at_lengths"].as_array()) add_point_texts(lengths, 3);
  for (std::size_t i = 0; i < of.runs.size(); ++i) {
    const ReportRun& run = of.runs[i];
    out["runs"].as_array()[i].as_object()["texts"] = json::object{
        {"value", number_text(run.value, digits.value)},
        {"seconds", run.seconds > 0 ? typographic(duration(run.seconds)) : "\u2013"}};
  }
  for (json::value& text : out["difference_texts"].as_array()) text = typographic(std::string(text.as_string()));
}

void add_further(json::value& also, const ReportData& further) {
  const TableDigits table(further);
  add_sides(also.at("metric"), further.metric);
  for (std::size_t i = 0; i < further.arms.size(); ++i) {
    const ReportArm& arm = further.arms[i];
    json::object& out = also.at("arms").as_array()[i].as_object();
    const Digits digits = table.of(arm);
    out["texts"] = json::object{{"mean", number_text(arm.mean, digits.value)},
                                {"spread", spread_text(arm.standard_deviation, digits.value)}};
    if (arm.comparison) add_comparison_texts(out["comparison"], *arm.comparison, further.metric, digits.difference);
    for (json::value& text : out["difference_texts"].as_array()) text = typographic(std::string(text.as_string()));
  }
}

/// Replaces the true names of metrics and arms by those that the report shows; metrics have the true one beside it.
void show_labels(json::object& out, const ReportData& report) {
  const auto label_metric = [](json::value& metric) {
    metric.as_object()["true_name"] = json::value(metric.at("name"));
    if (const json::value& label = metric.at("report_label"); !label.is_null()) metric.as_object()["name"] = label;
  };
  const auto label_arm = [&](json::value& arm, std::size_t i) {
    const ReportArm& of = report.arms[i];
    arm.as_object()["label"] = of.label;
    if (arm.as_object().contains("name")) arm.as_object()["name"] = of.name.empty() ? of.label : of.name;
  };
  json::object labels;
  for (const auto& [name, label] : report.labels) labels[name] = label;
  out["labels"] = std::move(labels);
  label_metric(out["metric"]);
  label_metric(out["curve_metric"]);
  for (json::value& measured : out["measured"].as_array()) label_metric(measured.at("metric"));
  for (std::size_t i = 0; i < report.arms.size(); ++i) label_arm(out["arms"].as_array()[i], i);
  for (json::value& also : out["also"].as_array()) {
    label_metric(also.at("metric"));
    for (std::size_t i = 0; i < report.arms.size(); ++i) label_arm(also.at("arms").as_array()[i], i);
  }
  const std::vector<ProblemGroup> problems = problem_groups(report);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    json::object& problem = out["problems"].as_array()[i].as_object();
    problem["arm"] = problems[i].arm->label;
    json::array seeds;
    for (const ReportRun* run : problems[i].runs) seeds.push_back(json::string(run->seed_text()));
    problem["seeds"] = std::move(seeds);
  }
}

} // namespace

json::object page_document(const ReportData& report, const Thinning& thinning) {
  json::object out = report_document(report, thinning);
  out.erase("figures"); // the page's figures can change, and are drawn from the arms' curves
  const TableDigits table(report);
  show_labels(out, report);
  add_sides(out["metric"], report.metric);
  out["clearest"] = clearest_first(report);
  for (std::size_t i = 0; i < report.arms.size(); ++i)
    add_arm(out["arms"].as_array()[i], report, report.arms[i], table);
  each_further_metric(report, [&](std::size_t i, const ReportData& further) {
    add_further(out["also"].as_array()[i], further);
  });
  for (std::size_t i = 0; i < report.interactions.size(); ++i)
    add_comparison_texts(out["interactions"].as_array()[i].as_object()["comparison"], report.interactions[i].comparison,
                         report.metric, table.common().difference);
  if (!report.tuning) return out;
  for (json::value& arm : out["tuning"].at("arms").as_array()) {
    json::array texts;
    for (const json::value& value : arm.at("values").as_array())
      texts.push_back(json::string(number_text(value_or_none(value), table.common().value)));
    arm.as_object()["texts"] = std::move(texts);
  }
  return out;
}

} // namespace heed
