// Tests of comma-separated values by RFC 4180: what is written can be read back unchanged.
#include "experiments/data/csv.hpp"
#include "experiments/data/table_file.hpp"
#include "tests/catch.hpp"

#include <limits>

using namespace heed;

TEST_CASE("cells are quoted as RFC 4180 has it, where they need to be", "[csv]") {
  CHECK(csv_cell("plain text") == "plain text");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("a \"b\"") == "\"a \"\"b\"\"\"");
  CHECK(csv_cell("two\nlines") == "\"two\nlines\"");
  CHECK(csv_cell("two\r\nlines") == "\"two\r\nlines\"");
}

TEST_CASE("a line ends in a newline, or as the reader wants it", "[csv]") {
  CHECK(csv_line({"a", "", "b,c"}) == "a,,\"b,c\"\n");
  CHECK(csv_line({"a", "b"}, "\r\n") == "a,b\r\n");
}

TEST_CASE("what is written is what is read", "[csv]") {
  const std::vector<std::string> cells{"plain", "a,b", "say \"hi\"", "\"", "two\nlines", "two\r\nlines", "", "é ±"};
  for (const char* end : {"\n", "\r\n"}) {
    const std::vector<TableRow> rows = read_csv(csv_line(cells, end) + csv_line({"next", "line"}, end), "test");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].cells == cells);
    CHECK(rows[1].cells == std::vector<std::string>{"next", "line"});
  }
}

TEST_CASE("numbers read back as the same numbers", "[csv]") {
  for (const double value : {0.1 + 0.2, 1.0 / 3, 1e-300, -std::numeric_limits<double>::max()})
    CHECK(std::stod(csv_number(value)) == value);
  CHECK(csv_number(0.001) == "0.001");
  CHECK(csv_number(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(csv_number(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("no cell of a table for people is a formula or a command, and numbers stay numbers", "[csv]") {
  CHECK(sheet_line({"=1+1", "+rope", "-dropout", "@SUM(A1)", "\tx"}) == "'=1+1,'+rope,'-dropout,'@SUM(A1),'\tx\n");
  CHECK(sheet_line({"=HYPERLINK(\"u\",\"x\")"}) == "\"'=HYPERLINK(\"\"u\"\",\"\"x\"\")\"\n");
  CHECK(sheet_line({"\uff1d1", "-1+cmd", "-0x1F"}) == "'\uff1d1,'-1+cmd,'-0x1F\n");
  CHECK(sheet_line({"-0.5", "+0.5", "-1e-300", "-inf", "-nan", "1-2", ""}) == "-0.5,+0.5,-1e-300,-inf,-nan,1-2,\n");
  CHECK(sheet_line({"\x1b[31mred\r"}) == "\\x1b[31mred\\x0d\n");
}
