#include "experiments/report/comparison_json.hpp"

#include "experiments/report/exact_ties.hpp"
#include "experiments/report/json_values.hpp"
#include "experiments/report/verdict.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <fmt/format.h>

namespace heed {

namespace {

namespace json = boost::json;

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
          {"equivalence", other_interval(mean, c.equivalence, decimals)},
          {"correlation", c.correlation ? fixed(c.correlation, 2) : ""},
          {"effect_size", fixed(c.effect_size, 2)},
          {"improvement", c.improvement ? fixed(c.improvement->value, 2) : ""},
          {"ends", json::array{json::string(signed_fixed(-std::abs(mean), size)),
                               json::string(signed_fixed(std::abs(mean), size))}}};
}

} // namespace

json::object comparison_json(const statistics::Comparison& c, const Metric& metric, int decimals) {
  return json::object{
      {"seeds", json_list(c.seeds)},
      {"pairs", c.difference.pairs},
      {"difference", json_number(c.difference.mean)},
      {"equal_text", equal_in_all_seeds(c) ? json::value(equal_words(c)) : json::value(nullptr)},
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
      {"interval_equivalence", json_interval(c.equivalence)},
      {"p_equivalence", json_number(c.p_equivalence)},
      {"p_equivalence_flips", json_number(c.p_equivalence_flips)},
      {"p_equivalence_flips_text", probability_or_null(c.p_equivalence_flips)},
      {"is_equivalent", c.margin ? json::value(c.answer == statistics::Answer::same || c.equal) : json::value(nullptr)},
      {"answer", name_of(answer_word(c, metric))},
      {"side", verdict_of(c, metric, decimals).side},
      {"texts", other_texts(c, decimals)}};
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
