// A report's document as JSON.
#include "experiments/report/json.hpp"

#include "experiments/system/polling.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace heed {

namespace {

namespace json = boost::json;

json::value value_json(const document::FileValue& value) {
  struct Json {
    json::value operator()(std::monostate) const { return nullptr; }
    json::value operator()(bool yes) const { return yes; }
    json::value operator()(std::int64_t count) const { return count; }
    json::value operator()(double number) const { return number; }
    json::value operator()(const std::string& text) const { return json::value(text); }
  };
  return std::visit(Json(), value);
}

json::object column_json(const document::Column& column) {
  constexpr std::array kinds{"name", "text", "count", "number", "probability", "answer", "amount"};
  constexpr std::array details{"main", "page", "files"};
  return json::object{{"keys", json::array(column.keys.begin(), column.keys.end())},
                      {"title", column.title},
                      {"kind", kinds[static_cast<std::size_t>(column.kind)]},
                      {"detail", details[static_cast<std::size_t>(column.detail)]},
                      {"folds", column.folds},
                      {"about", column.about}};
}

json::value number_json(double number) { return std::isfinite(number) ? json::value(number) : json::value(nullptr); }

json::value number_json(const std::optional<double>& number) {
  return number ? number_json(*number) : json::value(nullptr);
}

json::object axis_json(const document::Axis& axis) {
  json::array ticks;
  for (const double tick : axis.ticks) ticks.push_back(number_json(tick));
  return json::object{{"label", axis.label},
                      {"low", number_json(axis.low)},
                      {"high", number_json(axis.high)},
                      {"logarithmic", axis.logarithmic},
                      {"ticks", std::move(ticks)},
                      {"sides", json::array(axis.sides.begin(), axis.sides.end())}};
}

json::object series_json(const document::Series& series) {
  json::array at, value, low, high, deviation, runs, texts;
  for (const document::Point& point : series.points) {
    at.push_back(number_json(point.at));
    value.push_back(number_json(point.value));
    low.push_back(number_json(point.low));
    high.push_back(number_json(point.high));
    deviation.push_back(number_json(point.standard_deviation));
    runs.push_back(point.runs);
    if (!point.text.empty()) texts.push_back(json::array{json::string(point.text), json::string(point.spread)});
  }
  return json::object{
      {"group", series.group},        {"name", series.name},           {"look", series.look},
      {"mark", name_of(series.mark)}, {"has_range", series.has_range}, {"outside", series.outside},
      {"text", series.text},          {"at", std::move(at)},           {"value", std::move(value)},
      {"low", std::move(low)},        {"high", std::move(high)},       {"standard_deviation", std::move(deviation)},
      {"runs", std::move(runs)},      {"texts", std::move(texts)}};
}

/// A cell has only the members that it needs, since a table may have a million cells: its values; and for people, texts
/// and how they are meant.
json::object cell_json(const document::Cell& cell) {
  json::object out;
  const auto is_known = [](const document::FileValue& value) { return value.index() != 0; };
  if (std::ranges::any_of(cell.values, is_known)) {
    json::array& values = out["values"].emplace_array();
    values.reserve(cell.values.size());
    for (const document::FileValue& value : cell.values) values.push_back(value_json(value));
  }
  for (const auto& [key, text] : {std::pair("text", &cell.text), std::pair("spread", &cell.spread),
                                  std::pair("interval", &cell.interval), std::pair("remark", &cell.remark)})
    if (!text->empty()) out[key] = *text;
  if (cell.mark != AnswerWord::none) out["mark"] = name_of(cell.mark);
  if (cell.missing) out["missing"] = true;
  if (cell.in_words) out["in_words"] = true;
  return out;
}

} // namespace

json::object table_json(const document::Table& table) {
  json::array columns, rows;
  for (const document::Column& column : table.columns) columns.push_back(column_json(column));
  for (const document::Row& row : table.rows) {
    poll_caller();
    json::array cells;
    for (const document::Cell& cell : row.cells) cells.push_back(cell_json(cell));
    rows.push_back(json::object{
        {"group", row.group}, {"name", row.name}, {"reference", row.reference}, {"cells", std::move(cells)}});
  }
  return json::object{{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

json::array notes_json(const std::vector<document::Note>& notes) {
  constexpr std::array kinds{"column", "formula", "matching", "tuning"};
  json::array out;
  for (const document::Note& note : notes)
    out.push_back(json::object{{"kind", kinds[static_cast<std::size_t>(note.kind)]},
                               {"name", note.name},
                               {"claim", note.claim},
                               {"text", note.text},
                               {"second", note.second}});
  return out;
}

json::array figures_json(const std::vector<document::Figure>& figures) {
  constexpr std::array kinds{"differences", "lines"};
  json::array out;
  for (const document::Figure& figure : figures) {
    poll_caller();
    json::array series;
    for (const document::Series& one : figure.series) series.push_back(series_json(one));
    out.push_back(json::object{{"kind", kinds[static_cast<std::size_t>(figure.kind)]},
                               {"name", figure.name},
                               {"metric", figure.metric},
                               {"group", figure.group},
                               {"title", figure.title},
                               {"caption", figure.caption},
                               {"second", figure.second},
                               {"x", axis_json(figure.x)},
                               {"y", axis_json(figure.y)},
                               {"is_cut", figure.is_cut},
                               {"margin", number_json(figure.margin)},
                               {"mark", number_json(figure.mark)},
                               {"chance", number_json(figure.chance)},
                               {"series", std::move(series)}});
  }
  return out;
}

} // namespace heed
