#include "experiments/actions/data_guess.hpp"

#include "autograd/error.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>

namespace heed {

namespace {

constexpr std::uint64_t bytes_read = 1 << 20;
constexpr std::size_t examples_read = 500;

void require_exists(const std::string& kind, const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw Refused(
        fmt::format("{}: this file does not exist; correct the path, or leave it out and edit data.path later", path));
  const bool folder = std::filesystem::is_directory(status);
  if (folder != (kind == "images"))
    throw Refused(fmt::format("{}: this is a {}, and the data of \"{}\" is read from a {}", path,
                              folder ? "folder" : "file", kind, folder ? "file" : "folder"));
}

/// The whole lines at the beginning of a file. Throws heed::Refused if the file cannot be read.
std::string first_lines(const std::string& path) {
  const Parsed<std::string> read = read_beginning(path, bytes_read);
  if (!read) throw Refused(read.error);
  const std::size_t end = read->size() < bytes_read ? read->size() : read->rfind('\n');
  return read->substr(0, end);
}

/// The column whose name is one of these words.
std::optional<std::size_t> column_named(const TableRow& names, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    for (std::size_t i = 0; i < names.cells.size(); ++i)
      if (lower_case(names.cells[i]) == word) return i;
  return {};
}

/// The columns of texts and of labels, and whether the first row has their names.
struct TableColumns {
  std::size_t text = 0, label = 0;
  bool header = true;
};

/// By the columns' names, or else by their content: texts are the longest cells, and labels the cells that repeat most.
std::optional<TableColumns> columns_of(const std::vector<TableRow>& rows) {
  const std::size_t count = rows.empty() ? 0 : rows.front().cells.size();
  if (count < 2 || rows.size() < 3) return {};
  if (!std::ranges::all_of(rows, [&](const TableRow& row) { return row.cells.size() == count; })) return {};
  std::vector<std::size_t> characters(count);
  std::vector<std::set<std::string_view>> values(count);
  for (const TableRow& row : rows) {
    if (&row == &rows.front()) continue; // perhaps names
    for (std::size_t i = 0; i < count; ++i) {
      characters[i] += row.cells[i].size();
      values[i].insert(row.cells[i]);
    }
  }
  TableColumns out;
  const auto text = column_named(rows.front(), {"text", "sentence", "review", "comment", "message"});
  const auto label = column_named(rows.front(), {"label", "class", "category", "sentiment", "target", "topic"});
  out.text = text.value_or(static_cast<std::size_t>(std::ranges::max_element(characters) - characters.begin()));
  std::optional<std::size_t> best = label;
  if (!best)
    for (std::size_t i = 0; i < count; ++i)
      if (i != out.text && values[i].size() >= 2 && (!best || values[i].size() < values[*best].size())) best = i;
  if (!best || *best == out.text) return {};
  out.label = *best;
  out.header = text || label || !values[out.label].contains(rows.front().cells[out.label]);
  return out;
}

void guess_table(const std::string& path, DataGuess& guess) {
  const std::string beginning = first_lines(path);
  const std::string first = beginning.substr(0, beginning.find('\n'));
  const bool tabs = first.find('\t') != std::string::npos && first.find(',') == std::string::npos;
  guess.values["format"] = Value(std::string(tabs ? "tsv" : "csv"));
  guess.how = fmt::format(" Guessed from the beginning of {}: check it.",
                          std::filesystem::path(path).filename().string());
  guess.to_edit = {"text", "label"};
  std::vector<TableRow> rows;
  try {
    rows = tabs ? read_tsv(beginning, path) : read_csv(beginning, path);
  } catch (const Refused&) {
    // A quoted cell may be cut off; `heed check` reads the whole file and reports its errors.
    return;
  }
  if (rows.size() > examples_read) rows.resize(examples_read);
  const auto columns = columns_of(rows);
  if (!columns) return;
  const auto name = [&](std::size_t column) {
    return columns->header ? rows.front().cells[column] : std::to_string(column + 1);
  };
  guess.values["header"] = Value(columns->header);
  guess.values["text"] = Value(name(columns->text));
  guess.values["label"] = Value(name(columns->label));
}

/// True if the part of each line before a tab, if there is one, has no blank.
bool inputs_without_blanks(const std::string& lines) {
  bool before_tab = true;
  for (const char c : lines) {
    if (before_tab && c == ' ') return false;
    if (c == '\t') before_tab = false;
    if (c == '\n') before_tab = true;
  }
  return !lines.empty();
}

using Pair = std::array<std::string, 2>;

/// Input and output of each of the first pairs.
/// @param inputs   the first lines of a file, which also has the outputs if there are no others
/// @param outputs  the first lines of a file of outputs
std::vector<Pair> first_pairs(std::string_view inputs, std::optional<std::string_view> outputs) {
  std::vector<Pair> out;
  each_line(inputs, [&](std::int64_t, std::string_view line) {
    if (out.size() == examples_read) return;
    const std::size_t tab = outputs ? line.npos : line.find('\t');
    out.push_back({std::string(line.substr(0, tab)), std::string(tab == line.npos ? "" : line.substr(tab + 1))});
  });
  if (!outputs) return out;
  std::size_t pair = 0;
  each_line(*outputs, [&](std::int64_t, std::string_view line) {
    if (pair < out.size()) out[pair++][1] = line;
  });
  return out;
}

/// True if the first pair is names of columns: known ones; or single words, where all other texts have blanks or
/// digits.
bool begins_with_names(const std::vector<Pair>& pairs) {
  constexpr std::array known{"answer",  "chinese",  "completion", "de",       "en",        "english",   "french",
                             "german",  "input",    "inputs",     "original", "output",    "outputs",   "prompt",
                             "query",   "question", "response",   "russian",  "sentence1", "sentence2", "source",
                             "spanish", "src",      "summary",    "target",   "text",      "tgt",       "translation"};
  constexpr std::size_t fewest = 5;
  if (pairs.size() < fewest) return false;
  const auto& first = pairs.front();
  const auto others = std::span(pairs).subspan(1);
  const auto none_is_in_another = [&] {
    return std::ranges::none_of(others, [&](const auto& pair) { return pair[0] == first[0] || pair[1] == first[1]; });
  };
  const auto is_known = [&](const std::string& cell) { return std::ranges::count(known, lower_case(cell)) > 0; };
  const auto is_word = [](const std::string& cell) { // a few letters, of any script
    constexpr std::size_t longest = 40;
    const auto letter = [](char32_t c) {
      return c == '_' || c >= 0xc0 || (c < 0x80 && std::isalpha(static_cast<int>(c)));
    };
    bool letters = !cell.empty() && cell.size() <= longest;
    return each_utf8(cell, [&](char32_t c) { letters = letters && letter(c); }) == cell.size() && letters;
  };
  const auto is_text = [](const std::string& cell) { return cell.find_first_of(" 0123456789") != std::string::npos; };
  if (std::ranges::all_of(first, is_known)) return none_is_in_another();
  return std::ranges::all_of(first, is_word) &&
         std::ranges::all_of(others, [&](const auto& pair) { return std::ranges::all_of(pair, is_text); });
}

void guess_pairs(const std::vector<std::string>& data, const std::string& program, DataGuess& guess) {
  const std::string beginning = first_lines(data.front());
  guess.without_blanks = inputs_without_blanks(beginning);
  std::optional<std::string> outputs;
  if (data.size() == 2) outputs = first_lines(data.back());
  if (const std::vector<Pair> pairs = first_pairs(beginning, outputs); begins_with_names(pairs))
    guess.note = fmt::format("{}:1: \"{}\" and \"{}\" look like names of columns. Pairs have no header: this line is "
                             "read as an example; delete it if it is none.",
                             data.front(), pairs.front()[0], pairs.front()[1]);
  if (data.size() == 2) {
    guess.values["target"] = Value(data.back());
    return;
  }
  if (beginning.substr(0, beginning.find('\n')).find('\t') != std::string::npos) return;
  throw Refused(fmt::format("{}:1: there is no tab between an input and an output. If the outputs have a file of their "
                            "own, name it too:\n      {} OUTPUTS",
                            data.front(), shell_words({program, "new", "pairs", data.front()})));
}

} // namespace

std::string DataGuess::edit(std::string_view option) const {
  return std::ranges::find(to_edit, option) == to_edit.end() ? "" : " EDIT THIS LINE if your column has another name.";
}

DataGuess guess_data(const std::string& kind, const std::vector<std::string>& data, const std::string& program) {
  const std::size_t most = kind == "pairs" ? 2 : 1;
  if (data.size() > most)
    throw Refused(fmt::format("{} {} of data {} given, and {} takes {}", data.size(),
                              kind == "images" ? "folders" : "files", "are", kind,
                              most == 1 ? "one" : "two: inputs and outputs"));
  for (const std::string& path : data) require_exists(kind, path);
  DataGuess guess;
  if (kind == "labels") {
    if (data.empty()) guess.to_edit = {"text", "label"};
    else guess_table(data.front(), guess);
  }
  if (kind == "pairs" && !data.empty()) guess_pairs(data, program, guess);
  return guess;
}

} // namespace heed
