// Fuzz target: the CSV reader. The output of the CSV writer must read back as the same rows.
#include "experiments/data/csv.hpp"
#include "experiments/data/table_file.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<TableRow> rows, again;
  if (!refusal([&] { rows = read_csv(fuzz::text(data, size), "input.csv"); }).empty() || rows.empty()) return 0;
  std::string written = "\xEF\xBB\xBF"; // a byte order mark, so that a mark at the start of the first cell is preserved
  for (const TableRow& row : rows) written += csv_line(row.cells, size % 2 ? "\n" : "\r\n");
  const std::string why = refusal([&] { again = read_csv(written, "written.csv"); });
  require(why.empty(), "what was written is refused: " + why);
  require(std::ranges::equal(rows, again, {}, &TableRow::cells, &TableRow::cells),
          "what was written reads as something else:\n" + written);
  require(std::ranges::is_sorted(rows, std::less_equal<>{}, &TableRow::line), "rows don't begin in later lines");
  return 0;
}
