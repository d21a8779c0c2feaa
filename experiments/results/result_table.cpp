#include "experiments/results/result_table.hpp"

#include "autograd/error.hpp"
#include "experiments/data/json_fields.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/text.hpp"

#include <array>
#include <fmt/format.h>
#include <set>

namespace heed {

namespace {

constexpr std::size_t most_columns = 10'000, most_cells = 100'000'000;
constexpr std::size_t longest_column = 1000; // bytes: some names are part of the name of each arm
constexpr std::size_t longest_cell = 1'000'000'000;
constexpr std::size_t longest_object = 100'000'000; // bytes of a file that is looked at as one JSON object

/// The text up to the first line end.
std::string_view first_line_of(std::string_view text) { return text.substr(0, text.find_first_of("\r\n")); }

/// Adds rows of cells, of which the first has the names of the columns.
class CellRows {
public:
  explicit CellRows(TableMaker& maker) : maker_(maker) {}

  void add(const TableRow& row) {
    const ResultTable& table = maker_.table();
    if (!named_) {
      std::vector<std::string> names;
      for (const std::string& cell : row.cells) names.emplace_back(trimmed(cell));
      maker_.add_columns(names, row.line);
      named_ = true;
      return;
    }
    std::span<const std::string> cells = row.cells;
    // R's write.table names no column for the numbers of rows.
    if (cells.size() == table.columns.size() + 1 && has_row_numbers_ == !table.rows.empty() &&
        cells.front() == std::to_string(table.rows.size() + 1)) {
      has_row_numbers_ = true;
      cells = cells.subspan(1);
    }
    if (cells.size() != table.columns.size() || has_row_numbers_ != (cells.size() < row.cells.size()))
      throw Refused(fmt::format("{}: this row has {}, and the first line names {}; every row must have a cell for each "
                                "column (a cell with the separator in it stands in double quotes)",
                                table.place(row.line), counted(row.cells.size(), "cell"),
                                counted(table.columns.size(), "column")));
    maker_.add_row(row.line, cells);
  }

  void require_rows() const {
    const ResultTable& table = maker_.table();
    if (!named_) throw Refused(fmt::format("{} has only empty lines; it needs a row for each run", table.name));
    if (table.rows.empty())
      throw Refused(fmt::format("{} has names of columns and no rows below; it needs a row for each run", table.name));
  }

private:
  TableMaker& maker_;
  bool named_ = false, has_row_numbers_ = false;
};

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

std::size_t members_of(const boost::json::value& value) {
  std::size_t out = 0;
  if (const boost::json::array* list = value.if_array())
    for (const boost::json::value& entry : *list) out += members_of(entry);
  if (const boost::json::object* object = value.if_object())
    for (const auto& [key, member] : *object) out += 1 + members_of(member);
  return out;
}

/// Of a JSON text, the names of members that stand there, in order: the texts before a colon.
template <class Use> void each_stated_member(std::string_view text, const Use& use) {
  std::size_t begin = 0;
  std::string_view last;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') ++i;
    else if (c == '"') {
      if (in_text) last = text.substr(begin, i - begin);
      else begin = i + 1;
      in_text = !in_text;
    } else if (c == ':' && !in_text) use(last);
  }
}

/// Of two members with one name in an object, JSON's readers take the last without a word.
void require_members_once(std::string_view text, const boost::json::value& value, const std::string& place) {
  std::size_t stated = 0;
  each_stated_member(text, [&](std::string_view) { ++stated; });
  if (stated == members_of(value)) return;
  std::set<std::string_view> seen;
  std::string_view twice;
  each_stated_member(text, [&](std::string_view name) {
    if (!seen.insert(name).second && twice.empty()) twice = name;
  });
  throw Refused(fmt::format("{}: an object has two members of one name{}; leave one out", place,
                            value.is_object() ? ", " + shown_text(twice) : ""));
}

/// Adds JSON objects to a table as rows.
class ObjectRows {
public:
  explicit ObjectRows(TableMaker& maker) : maker_(maker) {}

  void add(const boost::json::value& value, std::int64_t line) {
    if (!value.is_object())
      throw Refused(fmt::format(
          "{}: this is not a JSON object; a row looks like {{\"model\": \"a\", \"seed\": 1, \"accuracy\": 0.9}}",
          maker_.table().place(line)));
    cells_.clear();
    add_members(value.get_object(), "", line);
    maker_.add_row(line, cells_);
  }

private:
  void add_members(const boost::json::object& object, const std::string& before, std::int64_t line) {
    for (const auto& [key, member] : object) {
      const std::string name = before + std::string(key);
      if (const boost::json::object* inner = member.if_object()) {
        add_members(*inner, name + ".", line);
        continue;
      }
      const std::size_t column = maker_.column(name, line);
      if (const boost::json::string* text = member.if_string()) cells_.emplace_back(column, std::string(*text));
      else if (!member.is_null()) cells_.emplace_back(column, json_fields::one_line(member));
    }
  }

  TableMaker& maker_;
  std::vector<std::pair<std::size_t, std::string>> cells_; ///< of the row
};

/// Refuses a text that is one JSON object, as pandas' to_json() writes it (by columns) or printed over several lines.
void require_no_single_object(TableMaker& maker, std::string_view text) {
  boost::json::value value;
  try {
    value = parsed_result(trimmed(text));
  } catch (const json_fields::Wrong&) {
    return; // more than one line
  }
  const std::string& name = maker.table().name;
  const auto is_column = [](const auto& member) { return member.value().is_object(); };
  if (value.is_object() && value.get_object().size() > 1 && std::ranges::all_of(value.get_object(), is_column))
    throw Refused(
        fmt::format("{} is a JSON object with a member for each column, as pandas' to_json() writes it; write a "
                    "row for each run: to_json(\"{}\", orient=\"records\", lines=True)",
                    name, maker.table().file()));
  if (value.is_object() && trimmed(text).find('\n') != text.npos)
    throw Refused(
        fmt::format("{} is one JSON object over several lines; each line must be an object of its own, or the "
                    "whole file a list of objects",
                    name));
}

void read_json_lines(TableMaker& maker, std::string_view text) {
  if (text.size() < longest_object) require_no_single_object(maker, text);
  ObjectRows rows(maker);
  each_line(text, [&](std::int64_t number, std::string_view line) {
    if (trimmed(line).empty()) return;
    try {
      const boost::json::value row = parsed_result(line);
      require_members_once(line, row, maker.table().place(number));
      rows.add(row, number);
    } catch (const json_fields::Wrong& wrong) {
      throw Refused(fmt::format("{}: {}; each line must be one JSON object (or the whole file a list of objects)",
                                maker.table().place(number), wrong.why));
    }
  });
}

void read_json_list(TableMaker& maker, std::string_view text) {
  ObjectRows rows(maker);
  try {
    const boost::json::value list = parsed_result(trimmed(text));
    require_members_once(text, list, maker.table().name);
    std::int64_t number = 0;
    for (const boost::json::value& entry : json_fields::list(list, "the file")) rows.add(entry, ++number);
  } catch (const json_fields::Wrong& wrong) {
    throw Refused(fmt::format("{}: {}; the file must be a list of objects, or have one object in each line",
                              maker.table().name, wrong.why));
  }
  if (maker.table().rows.empty())
    throw Refused(fmt::format("{} is an empty list; it needs an object for each run", maker.table().name));
}

} // namespace

std::string ResultTable::file() const {
  const std::size_t slash = name.rfind('/');
  return shown_name(slash == std::string::npos ? name : name.substr(slash + 1));
}

std::string ResultTable::place(std::int64_t line) const {
  return counted == "line" ? fmt::format("{}:{}", name, line) : fmt::format("{}, {} {}", name, counted, line);
}

std::string_view ResultTable::cell(const ResultRow& row, std::size_t column) const {
  const std::span<const ResultCell> all = cells(row);
  // In a row without empty cells, a cell is at the place of its column.
  if (column < all.size() && all[column].column == column) return text(all[column]);
  const auto found = std::ranges::lower_bound(all, column, {}, &ResultCell::column);
  return found == all.end() || found->column != column ? std::string_view() : text(*found);
}

TableMaker::TableMaker(std::string name, std::string counted) {
  table_.name = std::move(name);
  table_.counted = std::move(counted);
}

std::size_t TableMaker::column(const std::string& name, std::int64_t line) {
  const auto [known, is_new] = places_.try_emplace(name, table_.columns.size());
  if (!is_new) return known->second;
  if (name.size() > longest_column)
    throw Refused(fmt::format("{}: the name of a column has {} bytes, {}; at most {} are allowed", table_.place(line),
                              name.size(), shown_text(name), longest_column));
  if (table_.columns.size() == most_columns)
    throw Refused(fmt::format("{}: the table has more than {} columns, which is the most that are read; leave out "
                              "those that are not compared",
                              table_.place(line), most_columns));
  table_.columns.push_back(name);
  return known->second;
}

void TableMaker::add_columns(std::span<const std::string> names, std::int64_t line) {
  for (const std::string& name : names) {
    const std::size_t before = table_.columns.size();
    if (name.empty() && places_.contains("")) {
      table_.columns.emplace_back();
      continue;
    }
    if (const std::size_t known = column(name, line); known < before)
      throw Refused(fmt::format("{}: columns {} and {} are both called {}; give each column a name of its own",
                                table_.place(line), known + 1, before + 1, shown_text(name)));
  }
}

void TableMaker::add_cell(std::int64_t line, std::size_t column, std::string_view text) {
  text = trimmed(text);
  work_.did(text.size() + 8);
  if (text.size() > longest_cell)
    throw Refused(fmt::format("{}: a cell has {} MB, {}; at most {} are allowed", table_.place(line),
                              text.size() / 1'000'000, shown_text(text), longest_cell / 1'000'000));
  if (!text.empty())
    table_.cells_.push_back({table_.texts_.size(), static_cast<std::uint32_t>(text.size()),
                             static_cast<std::uint32_t>(column)});
  table_.texts_ += text;
  if (table_.cells_.size() > most_cells)
    throw Refused(
        fmt::format("{}: the table has more than {} million cells, which is the most that are read; leave out "
                    "columns that are not compared",
                    table_.place(line), most_cells / 1'000'000));
}

void TableMaker::add_row(std::int64_t line, std::span<const std::string> cells) {
  const std::size_t first = table_.cells_.size();
  for (std::size_t i = 0; i < cells.size(); ++i) add_cell(line, i, cells[i]);
  table_.rows.push_back({line, first, table_.cells_.size() - first});
}

void TableMaker::add_row(std::int64_t line, std::span<const std::pair<std::size_t, std::string>> cells) {
  std::vector<std::pair<std::size_t, std::size_t>> order; // column and place in `cells`
  for (std::size_t i = 0; i < cells.size(); ++i) order.emplace_back(cells[i].first, i);
  std::ranges::sort(order);
  const std::size_t first = table_.cells_.size();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [column, place] = order[i];
    if (i > 0 && order[i - 1].first == column)
      throw Refused(
          fmt::format("{}: {} is given twice, as {} and {}; leave one out (\"a.b\" and b within a are the same)",
                      table_.place(line), shown_text(table_.columns[column]),
                      shown_text(cells[order[i - 1].second].second), shown_text(cells[place].second)));
    add_cell(line, column, cells[place].second);
  }
  table_.rows.push_back({line, first, table_.cells_.size() - first});
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out = without_controls(text.substr(0, std::min(text.size(), 4 * longest)));
  if (out.size() <= longest && text.size() <= 4 * longest) return fmt::format("\"{}\"", out);
  return fmt::format("\"{}...\" ({} bytes)", beginning_of(out, longest), text.size());
}

std::string shown_name(std::string_view text) {
  std::string out = without_controls(text);
  for (char& c : out)
    if (c == '\n' || c == '\t') c = ' ';
  return out;
}

/// Refuses a file that is no text, by the bytes that it begins with, with the line of Python that makes a table of it.
void require_no_other_format(std::string_view bytes, const std::string& name) {
  struct Format {
    std::string_view begins, called, read;
  };
  constexpr std::array<Format, 7> formats{
      {{"PK\x03\x04", "an Excel file (.xlsx) or another ZIP archive", "pandas.read_excel(\"FILE\")"},
       {"\xD0\xCF\x11\xE0", "an old Excel file (.xls)", "pandas.read_excel(\"FILE\")"},
       {"PAR1", "a Parquet file", "pandas.read_parquet(\"FILE\")"},
       {"ARROW1", "an Arrow (Feather) file", "pandas.read_feather(\"FILE\")"},
       {"\x80\x04", "a pickle of Python", "pandas.read_pickle(\"FILE\")"},
       {"\x80\x05", "a pickle of Python", "pandas.read_pickle(\"FILE\")"},
       {"\x1F\x8B", "compressed by gzip", "pandas.read_csv(\"FILE\", compression=\"gzip\")"}}};
  for (const Format& format : formats)
    if (bytes.starts_with(format.begins))
      throw Refused(
          fmt::format("{} is {}, and no text; write its table as CSV, in Python: {}.to_csv(\"table.csv\", index=False)",
                      name, format.called, format.read));
}

ResultTable read_results(std::string_view bytes, const std::string& name) {
  require_no_other_format(bytes, name);
  if (trimmed(without_mark(bytes)).empty())
    throw Refused(fmt::format("{} is empty; it needs a row for each run, or for each evaluation of a run", name));
  const std::string_view text = text_of_rows(bytes, name);
  const char first = trimmed(text).front();
  TableMaker maker(name, first == '[' ? "entry" : "line");
  if (first == '{') read_json_lines(maker, text);
  else if (first == '[') read_json_list(maker, text);
  else {
    if (text.find('\r') != text.npos && text.find('\n') == text.npos)
      throw Refused(
          fmt::format("{}: lines end with a carriage return only (CR), as in old Mac files; save the file with "
                      "line feeds: tr '\\r' '\\n' < FILE > NEW_FILE",
                      name));
    const std::string_view header = first_line_of(text);
    const auto tabs = std::ranges::count(header, '\t'), commas = std::ranges::count(header, ',');
    if (tabs == 0 && commas == 0 && header.find(';') != std::string_view::npos)
      throw Refused(fmt::format(
          "{}:1: the columns are separated by semicolons; save the file with commas or tabs, and numbers as 0.5",
          name));
    CellRows rows(maker);
    (tabs > commas ? each_quoted_tsv_row : each_csv_row)(bytes, name, most_columns,
                                                         [&](TableRow&& row) { rows.add(row); });
    rows.require_rows();
  }
  return maker.made();
}

} // namespace heed
