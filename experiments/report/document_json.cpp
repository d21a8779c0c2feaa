// A report's document as JSON.
#include "experiments/report/described_json.hpp"

#include <algorithm>
#include <utility>

namespace heed {

namespace document {

namespace json = boost::json;

// The members of the objects, in this order.
BOOST_DESCRIBE_STRUCT(Column, (), (keys, title, kind, detail, folds, about))
BOOST_DESCRIBE_STRUCT(Row, (), (group, name, reference, cells))
BOOST_DESCRIBE_STRUCT(Table, (), (columns, rows))
BOOST_DESCRIBE_STRUCT(Note, (), (kind, name, claim, text, second))
BOOST_DESCRIBE_STRUCT(Axis, (), (label, low, high, logarithmic, ticks, sides))
BOOST_DESCRIBE_STRUCT(Series, (), (group, name, look, mark, has_range, outside, text))
BOOST_DESCRIBE_STRUCT(Point, (), (at, value, low, high, standard_deviation, runs))
BOOST_DESCRIBE_STRUCT(Figure, (),
                      (kind, name, metric, group, title, caption, second, x, y, is_cut, margin, mark, chance, series))

static json::value to_described(const Series& series) {
  json::object out = described::object_of(series);
  out["mark"] = name_of(series.mark);
  described::add_lists(out, series.points);
  json::array& texts = out["texts"].emplace_array();
  for (const Point& point : series.points)
    if (!point.text.empty()) texts.push_back(json::array{json::string(point.text), json::string(point.spread)});
  return out;
}

/// `margin_line` is a member only where there is one.
static json::value to_described(const Figure& figure) {
  json::object out = described::object_of(figure);
  if (figure.margin_line) out["margin_line"] = *figure.margin_line;
  return out;
}

/// A cell has only the members that it needs, since a table may have a million cells: its values; and for people, texts
/// and how they are meant.
static json::value to_described(const Cell& cell) {
  json::object out;
  const auto is_known = [](const FileValue& value) { return value.index() != 0; };
  if (std::ranges::any_of(cell.values, is_known)) {
    json::array& values = out["values"].emplace_array();
    values.reserve(cell.values.size());
    for (const FileValue& value : cell.values) values.push_back(json::value_from(value));
  }
  for (const auto& [key, text] : {std::pair("text", &cell.text), std::pair("spread", &cell.spread),
                                  std::pair("interval", &cell.interval), std::pair("remark", &cell.remark)})
    if (!text->empty()) out[key] = *text;
  if (cell.mark != AnswerWord::none) out["mark"] = name_of(cell.mark);
  if (cell.missing) out["missing"] = true;
  if (cell.in_words) out["in_words"] = true;
  return out;
}

} // namespace document

boost::json::object table_json(const document::Table& table) { return described::object_of(table); }

boost::json::array notes_json(const std::vector<document::Note>& notes) {
  return described::value_of(notes).as_array();
}

boost::json::array figures_json(const std::vector<document::Figure>& figures) {
  return described::value_of(figures).as_array();
}

} // namespace heed
