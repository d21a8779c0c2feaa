#include "experiments/results/result_table.hpp"

#include "autograd/error.hpp"
#include "experiments/data/json_fields.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/cut_text.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>

namespace heed {

namespace {

constexpr std::size_t most_columns = 10'000;
constexpr std::size_t most_cells = 100'000'000;

/// The text up to the first line end.
std::string_view first_line_of(std::string_view text) { return text.substr(0, text.find_first_of("\r\n")); }

void require_distinct_columns(const ResultTable& table, std::int64_t line) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].empty()) continue;
    const auto [known, is_new] = seen.emplace(table.columns[i], i);
    if (!is_new)
      throw Refused(fmt::format("{}: columns {} and {} are both called {}; give each column a name of its own",
                                table.place(line), known->second + 1, i + 1, shown_text(table.columns[i])));
  }
}

/// Splits rows of cells, of which the first has the names of the columns.
void take_rows(ResultTable& table, std::vector<TableRow> rows) {
  if (rows.empty()) throw Refused(fmt::format("{} has only empty lines; it needs a row for each run", table.name));
  for (const std::string& cell : rows.front().cells) table.columns.emplace_back(trimmed(cell));
  if (table.columns.size() > most_columns)
    throw Refused(fmt::format("{} has {} columns; at most {} are read", table.name, table.columns.size(),
                              most_columns));
  require_distinct_columns(table, rows.front().line);
  if (rows.size() == 1)
    throw Refused(fmt::format("{} has names of columns and no rows below; it needs a row for each run", table.name));
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i].cells.size() != table.columns.size())
      throw Refused(fmt::format("{}: this row has {}, and the first line names {}; every row must have a cell for each "
                                "column (a cell with the separator in it stands in double quotes)",
                                table.place(rows[i].line), counted(rows[i].cells.size(), "cell"),
                                counted(table.columns.size(), "column")));
  rows.erase(rows.begin());
  table.rows = std::move(rows);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

/// JSON in which NaN, Infinity and -Infinity, which JSON does not have, are texts.
std::string with_quoted_specials(std::string_view text) {
  constexpr std::array<std::string_view, 3> specials{"NaN", "-Infinity", "Infinity"};
  std::string out;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto special = std::ranges::find_if(specials,
                                              [&](std::string_view word) { return text.substr(i).starts_with(word); });
    if (!in_text && special != specials.end()) {
      out.append("\"").append(*special).append("\"");
      i += special->size();
      continue;
    }
    if (in_text && text[i] == '\\' && i + 1 < text.size()) out += text[i++];
    else if (text[i] == '"') in_text = !in_text;
    out += text[i++];
  }
  return out;
}

boost::json::value parsed_result(std::string_view text) {
  if (text.find("NaN") == std::string_view::npos && text.find("Infinity") == std::string_view::npos)
    return json_fields::parsed(text);
  return json_fields::parsed(with_quoted_specials(text));
}

/// Adds JSON objects to a table as rows.
class ObjectRows {
public:
  explicit ObjectRows(ResultTable& table) : table_(table) {}

  void add(const boost::json::value& value, std::int64_t line) {
    if (!value.is_object())
      throw Refused(fmt::format("{}: this is not a JSON object; a row looks like {{\"model\": \"a\", \"seed\": 1, "
                                "\"accuracy\": 0.9}}",
                                table_.place(line)));
    row_ = {line, {}};
    add_members(value.get_object(), "");
    cells_ += row_.cells.size();
    if (cells_ > most_cells)
      throw Refused(fmt::format("{}: the table has more than {} million cells; write fewer members into its objects",
                                table_.place(line), most_cells / 1'000'000));
    table_.rows.push_back(std::move(row_));
  }

private:
  void add_members(const boost::json::object& object, const std::string& before) {
    for (const auto& [key, member] : object) {
      const std::string name = before + std::string(key);
      if (const boost::json::object* inner = member.if_object()) add_members(*inner, name + ".");
      else set(name, member);
    }
  }

  void set(const std::string& name, const boost::json::value& value) {
    const auto [known, is_new] = places_.emplace(name, table_.columns.size());
    if (is_new) table_.columns.push_back(name);
    if (table_.columns.size() > most_columns)
      throw Refused(fmt::format("{}: the objects have more than {} different members", table_.place(row_.line),
                                most_columns));
    if (row_.cells.size() <= known->second) row_.cells.resize(known->second + 1);
    std::string& cell = row_.cells[known->second];
    if (const boost::json::string* text = value.if_string()) cell = std::string(*text);
    else if (!value.is_null()) cell = json_fields::one_line(value);
  }

  ResultTable& table_;
  TableRow row_;
  std::size_t cells_ = 0;
  std::unordered_map<std::string, std::size_t> places_;
};

void read_json_lines(ResultTable& table, std::string_view text) {
  ObjectRows rows(table);
  each_line(text, [&](std::int64_t number, std::string_view line) {
    if (trimmed(line).empty()) return;
    try {
      rows.add(parsed_result(line), number);
    } catch (const json_fields::Wrong& wrong) {
      throw Refused(fmt::format("{}: {}; each line must be one JSON object (or the whole file a list of objects)",
                                table.place(number), wrong.why));
    }
  });
}

void read_json_list(ResultTable& table, std::string_view text) {
  table.counted = "entry";
  ObjectRows rows(table);
  try {
    const boost::json::value list = parsed_result(trimmed(text));
    std::int64_t number = 0;
    for (const boost::json::value& entry : json_fields::list(list, "the file")) rows.add(entry, ++number);
  } catch (const json_fields::Wrong& wrong) {
    throw Refused(fmt::format("{}: {}; the file must be a list of objects, or have one object in each line", table.name,
                              wrong.why));
  }
  if (table.rows.empty())
    throw Refused(fmt::format("{} is an empty list; it needs an object for each run", table.name));
}

} // namespace

std::string ResultTable::file() const {
  const std::size_t slash = name.rfind('/');
  return without_controls(slash == std::string::npos ? name : name.substr(slash + 1));
}

std::string ResultTable::place(std::int64_t line) const {
  return counted == "line" ? fmt::format("{}:{}", name, line) : fmt::format("{}, {} {}", name, counted, line);
}

std::string_view ResultTable::cell(const TableRow& row, std::size_t column) const {
  return column < row.cells.size() ? trimmed(row.cells[column]) : std::string_view();
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out = without_controls(text.substr(0, std::min(text.size(), 4 * longest)));
  if (out.size() <= longest && text.size() <= 4 * longest) return fmt::format("\"{}\"", out);
  return fmt::format("\"{}...\" ({} bytes)", beginning_of(out, longest), text.size());
}

ResultTable read_results(std::string_view bytes, const std::string& name) {
  if (trimmed(without_mark(bytes)).empty())
    throw Refused(fmt::format("{} is empty; it needs a row for each run, or for each evaluation of a run", name));
  const std::string_view text = text_of_rows(bytes, name);
  ResultTable table;
  table.name = name;
  const char first = trimmed(text).front();
  if (first == '{') {
    read_json_lines(table, text);
    return table;
  }
  if (first == '[') {
    read_json_list(table, text);
    return table;
  }
  const std::string_view header = first_line_of(text);
  const auto tabs = std::ranges::count(header, '\t'), commas = std::ranges::count(header, ',');
  if (tabs == 0 && commas == 0 && header.find(';') != std::string_view::npos)
    throw Refused(fmt::format("{}:1: the columns are separated by semicolons; save the file with commas or tabs, and "
                              "numbers as 0.5",
                              name));
  take_rows(table, tabs > commas ? read_tsv(bytes, name) : read_csv(bytes, name));
  return table;
}

} // namespace heed
