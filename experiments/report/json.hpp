// The whole report as one JSON document, for other programs and for the HTML page. Its parts: arms, the document,
// values.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/report/document.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"

#include <boost/json.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The document that docs/reference/report.schema.json describes. Numbers are not rounded. Unknown values and values
/// that are not finite are null.
/// @param every  as for write_report
boost::json::object report_document(const ReportData& report, std::size_t every = 1);

/// Receives a report's members, one after another, so that a report with many arms need not be in memory as a whole. An
/// array may come item by item.
class ReportMembers {
public:
  virtual ~ReportMembers() = default;
  virtual void member(std::string_view key, boost::json::value value) = 0;
  virtual void begin(std::string_view key) = 0;
  virtual void item(boost::json::value value) = 0;
  virtual void end() = 0;
};
/// @param figures  those of the report, which are freed as soon as they are written
/// @param every    lines of these figures have every n-th of their points, and the last (curves.hpp); the member
///                 `thinned` is a sentence about it
void write_report(const ReportData& report, std::vector<document::Figure> figures, std::size_t every,
                  ReportMembers& out);

/// The document as text. The caller can stop it (PollScope).
std::string report_text(const ReportData& report);

/// Adds the document as text for an HTML page's <script type="application/json">, without what the page's pictures and
/// the texts of its figures have: curves, and the bands of figures. The text contains no "<", ">" or "&", so no name in
/// it can close the element or open a comment. Figures and `every`: as for write_report.
void add_script_safe_text(const ReportData& report, std::vector<document::Figure> figures, std::size_t every,
                          std::string& to);

/// Null for an unknown number, and for one that is not finite, which JSON does not have.
inline boost::json::value json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? boost::json::value(*value) : boost::json::value(nullptr);
}

inline boost::json::value json_interval(const std::optional<statistics::Interval>& of) {
  if (!of) return nullptr;
  return boost::json::array{json_number(of->low), json_number(of->high)};
}

template <class Items> boost::json::array json_list(const Items& items) {
  return boost::json::array(items.begin(), items.end());
}

inline boost::json::value text_or_null(const std::string& text) {
  return text.empty() ? boost::json::value(nullptr) : boost::json::value(text);
}

/// The arm's label in the report, where [report.label] gives it one.
inline boost::json::value report_label(const ReportArm& arm) {
  return text_or_null(arm.own_label.empty() ? "" : arm.label);
}

inline boost::json::object json_digits(const Digits& digits) {
  return {{"value", digits.value}, {"difference", digits.difference}};
}

/// Numbers in full, and for people:
///   texts                  mean, spread ("± 0.04"), common_mean (with the table's digits), parameters, flops,
///                          state_size, time, seconds, time_spread, memory; differences and ratios of these costs, and
///                          ratios of the mean, to the arm's reference; unknown ones are missing
///   limit                  "at chance", "at the ceiling" and so on (`place_of`); empty for none
///   seconds_deviation      over the finished runs; null for one
///   runs[].texts           value, seconds
///   curve, by_length, at_lengths: texts    [mean, spread] of each point
/// @param length_metrics  length_metrics(report)
boost::json::object arm_json(const ReportData& report, const ReportArm& arm, const TableDigits& table,
                             const std::vector<std::string>& length_metrics);

/// All numbers in full. `side` is that of the difference (answers.hpp). `texts` has, for people, the other intervals
/// (flips, student, interquartile), correlation, effect_size, improvement, and ends (minus and plus the
/// size of the difference).
/// @param decimals  of the difference
boost::json::object comparison_json(const statistics::Comparison& c, const Metric& metric, int decimals);

/// `sides` are the names of a difference below 0 and of one above 0.
boost::json::object metric_json(const Metric& metric);

/// The difference of an arm and its interval, as tables show them; empty without a comparison.
boost::json::array difference_texts(const ReportArm& arm, const Metric& metric, const Digits& digits);

/// {"columns": [...], "rows": [...]}. Values have full precision; unknown ones are null.
boost::json::object table_json(const document::Table& table);

/// [{"kind": "column", "name": "p", "claim": ..., "text": ..., "second": false}, ...].
boost::json::array notes_json(const std::vector<document::Note>& notes);

/// [{"kind": "lines", "name": "val-loss-by-step", "x": {...}, "y": {...}, "series": [{"name": ..., "value": [...]}]}].
/// Each number of the points is a list over them.
boost::json::array figures_json(const std::vector<document::Figure>& figures);

} // namespace heed
