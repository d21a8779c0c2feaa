// Fuzz target: the readers of lines and of tab-separated values.
#include "experiments/data/table_file.hpp"
#include "tests/fuzz/target.hpp"

#include <fmt/format.h>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<TableRow> lines, rows;
  const std::string_view bytes = fuzz::text(data, size);
  const std::string why_lines = refusal([&] { lines = read_lines(bytes, "input.tsv"); });
  const std::string why_rows = refusal([&] { rows = read_tsv(bytes, "input.tsv"); });
  require(why_lines == why_rows, "refused as lines, or as a table, alone");
  for (const TableRow& row : rows) {
    const TableRow& line = lines.at(static_cast<std::size_t>(row.line - 1));
    require(line.line == row.line, "lines are not numbered from 1");
    require(fmt::format("{}", fmt::join(row.cells, "\t")) == line.cells.at(0), "cells are not what the line has");
  }
  return 0;
}
