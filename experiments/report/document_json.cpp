#include "experiments/report/document_json.hpp"

#include "experiments/system/polling.hpp"

#include <array>
#include <boost/json.hpp>
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

/// A cell has only the members that it needs: its values; and for people, texts and how they are meant.
json::object cell_json(const document::Cell& cell) {
  json::array values;
  for (const document::FileValue& value : cell.values) values.push_back(value_json(value));
  json::object out{{"values", std::move(values)}, {"text", cell.text}, {"mark", name_of(cell.mark)}};
  for (const auto& [key, text] :
       {std::pair("spread", &cell.spread), std::pair("interval", &cell.interval), std::pair("remark", &cell.remark)})
    if (!text->empty()) out[key] = *text;
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

} // namespace heed
