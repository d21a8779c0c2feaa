// Tests of reading rows of a table: cells by RFC 4180, the line number of each row, and an error with the place for
// every invalid file.
#include "experiments/data/table_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

using Cells = std::vector<std::string>;

std::vector<Cells> cells(const std::vector<TableRow>& rows) {
  std::vector<Cells> out;
  for (const TableRow& row : rows) out.push_back(row.cells);
  return out;
}

std::vector<std::int64_t> lines(const std::vector<TableRow>& rows) {
  std::vector<std::int64_t> out;
  for (const TableRow& row : rows) out.push_back(row.line);
  return out;
}

} // namespace

TEST_CASE("lines end in a line feed, with or without a carriage return", "[table]") {
  CHECK(cells(read_lines("a\r\n\nb \xc3\xa9\nc", "f")) == std::vector<Cells>{{"a"}, {""}, {"b é"}, {"c"}});
  CHECK(read_lines("a\n", "f").size() == 1);
  CHECK(cells(read_lines("\xEF\xBB\xBF"
                         "a\n",
                         "f")) == std::vector<Cells>{{"a"}});
}

TEST_CASE("tab-separated cells are taken as they are", "[table]") {
  const auto rows = read_tsv("a\tb\n\n\"x\ty, z\"\t\r\n", "f");
  CHECK(cells(rows) == std::vector<Cells>{{"a", "b"}, {"\"x", "y, z\"", ""}});
  CHECK(lines(rows) == std::vector<std::int64_t>{1, 3});
}

TEST_CASE("comma-separated cells may be in quotes", "[table]") {
  const auto rows = read_csv("text,label\r\n\"a, b\",1\r\n\"two\nlines\",\"say \"\"hi\"\"\"\n\n,\n\"\",x", "f");
  CHECK(cells(rows) ==
        std::vector<Cells>{{"text", "label"}, {"a, b", "1"}, {"two\nlines", "say \"hi\""}, {"", ""}, {"", "x"}});
  CHECK(lines(rows) == std::vector<std::int64_t>{1, 2, 3, 6, 7});
  CHECK(cells(read_csv("\xEF\xBB\xBF\"a\",b", "f")) == std::vector<Cells>{{"a", "b"}});
}

TEST_CASE("bad tables are refused with file and line", "[table]") {
  const auto csv = [](std::string_view bytes) { return refusal([&] { read_csv(bytes, "t.csv"); }); };
  CHECK(csv("a,b\n\"open,x\ny,z\n") == "t.csv:2: the quote that opens a cell here is never closed");
  CHECK(csv("a,b\nx,\"y\"z\n") ==
        "t.csv:2: text follows the quote that closes a cell; a quote within a cell is doubled");
  CHECK_THAT(csv("a,b\n\"1\n2\",x\nsay \"hi\",y\n"), Contains("t.csv:4: a quote stands within a cell"));
  CHECK_THAT(csv("a\rb\n"), Contains("t.csv:1: a carriage return stands without a line feed"));
  CHECK(csv("") == "t.csv is empty; it needs rows to learn from");
  CHECK_THAT(csv("a,b\nx,\xff\n"), Contains("t.csv is not UTF-8: byte 0xFF at byte offset 6, line 2"));
  CHECK_THAT(refusal([] { read_tsv("", "t.tsv"); }), Contains("t.tsv is empty"));
  CHECK_THAT(refusal([] { read_lines("a\n\xc3", "t.txt"); }), Contains("line 2, begins a character that the end cuts"));
}
