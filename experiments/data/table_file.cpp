#include "experiments/data/table_file.hpp"

#include "autograd/error.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/polling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace heed {

namespace {

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

void require_text(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) throw Refused(fmt::format("{} is empty; it needs rows to learn from", name));
  require_utf8(bytes, name);
}

[[noreturn]] void refuse_cells(const std::string& name, std::int64_t line, std::size_t most) {
  throw Refused(fmt::format("{}:{}: this row has more than {} cells, which is the most that are read", name, line,
                            most));
}

/// Cells between commas or tabs. With tabs, as in R's files, a quote within quotes may also stand after a backslash,
/// and one within a cell that does not begin with one is a character like others.
class CsvReader {
public:
  CsvReader(std::string_view bytes, const std::string& name, std::size_t most, char separator)
      : bytes_(without_mark(bytes)), name_(name), most_(most), separator_(separator) {}

  void each(const UseRow& use) {
    PolledWork work;
    while (at_ < bytes_.size()) {
      TableRow row{line_, {}};
      const std::size_t begin = at_;
      do {
        if (row.cells.size() == most_) refuse_cells(name_, row.line, most_);
        row.cells.push_back(peek() == '"' ? quoted_cell() : plain_cell());
      } while (take(separator_));
      end_line();
      work.did(at_ - begin);
      if (row.cells.size() > 1 || !row.cells.front().empty()) use(std::move(row));
    }
  }

private:
  bool has_tabs() const { return separator_ == '\t'; }
  char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  bool take(char c) {
    if (at_ >= bytes_.size() || bytes_[at_] != c) return false;
    ++at_;
    return true;
  }
  void end_line() {
    take('\r');
    take('\n');
    ++line_;
  }

  [[noreturn]] void refuse(std::int64_t line, const char* what) const {
    throw Refused(fmt::format("{}:{}: {}", name_, line, what));
  }

  std::string plain_cell() {
    const std::size_t end = std::min(bytes_.find_first_of(has_tabs() ? "\t\n\r" : ",\"\n\r", at_), bytes_.size());
    if (end < bytes_.size() && bytes_[end] == '"')
      refuse(line_, "a quote stands within a cell that does not begin with one; put the cell in quotes, and double "
                    "those within it");
    if (end < bytes_.size() && bytes_[end] == '\r' && bytes_.substr(end, 2) != "\r\n")
      refuse(line_, "a carriage return stands without a line feed; lines end in \\n or \\r\\n");
    std::string cell(bytes_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string quoted_cell() {
    const std::int64_t opened = line_;
    std::string cell;
    for (++at_; at_ < bytes_.size();) {
      const char c = bytes_[at_++];
      if (c == '\n') ++line_;
      const bool may_quote = c == '"' || (c == '\\' && has_tabs()); // a second quote, or one after a backslash
      if (may_quote && take('"')) cell += '"';
      else if (c != '"') cell += c;
      else {
        if (const char next = peek(); at_ < bytes_.size() && next != separator_ && next != '\n' && next != '\r')
          refuse(line_, "text follows the quote that closes a cell; a quote within a cell is doubled");
        return cell;
      }
    }
    refuse(opened, "the quote that opens a cell here is never closed");
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t most_, at_ = 0;
  char separator_;
  std::int64_t line_ = 1;
};

} // namespace

std::string_view text_of_rows(std::string_view bytes, const std::string& name) {
  require_text(bytes, name);
  return without_mark(bytes);
}

std::vector<TableRow> read_lines(std::string_view bytes, const std::string& name) {
  std::vector<TableRow> rows;
  each_line(text_of_rows(bytes, name), [&](std::int64_t number, std::string_view line) {
    rows.push_back({number, {std::string(line)}});
  });
  return rows;
}

void each_tsv_row(std::string_view bytes, const std::string& name, std::size_t most, const UseRow& use) {
  PolledWork work;
  each_line(text_of_rows(bytes, name), [&](std::int64_t number, std::string_view text) {
    if (text.empty()) return;
    TableRow row{number, {}};
    for (std::size_t begin = 0; begin <= text.size();) {
      if (row.cells.size() == most) refuse_cells(name, number, most);
      const std::size_t end = std::min(text.find('\t', begin), text.size());
      row.cells.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    work.did(text.size());
    use(std::move(row));
  });
}

void each_csv_row(std::string_view bytes, const std::string& name, std::size_t most, const UseRow& use) {
  require_text(bytes, name);
  CsvReader(bytes, name, most, ',').each(use);
}

void each_quoted_tsv_row(std::string_view bytes, const std::string& name, std::size_t most, const UseRow& use) {
  require_text(bytes, name);
  CsvReader(bytes, name, most, '\t').each(use);
}

std::vector<TableRow> read_tsv(std::string_view bytes, const std::string& name) {
  std::vector<TableRow> rows;
  each_tsv_row(bytes, name, any_number, [&](TableRow&& row) { rows.push_back(std::move(row)); });
  return rows;
}

std::vector<TableRow> read_csv(std::string_view bytes, const std::string& name) {
  std::vector<TableRow> rows;
  each_csv_row(bytes, name, any_number, [&](TableRow&& row) { rows.push_back(std::move(row)); });
  return rows;
}

} // namespace heed
