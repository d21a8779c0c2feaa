// Fuzz target: `heed runs --where`. SQLite must accept every filter that the parser accepts, wherever the filter is in
// a statement.
#include "experiments/index/run_filter.hpp"
#include "experiments/index/run_index.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/three_runs.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::ThreeRuns runs;
  static RunIndex index(runs.path);
  Selection selection;
  if (!refusal([&] { selection.where = parse_filter(fuzz::text(data, size), index.fields()); }).empty()) return 0;
  try {
    const std::size_t found = index.select({}, selection).size();
    selection.where->sql = "NOT " + selection.where->sql;
    require(found + index.select({}, selection).size() <= 3, "a run for which a filter holds, and its opposite");
    index.options_that_differ(selection.where);
    index.fields_present(selection.where);
  } catch (const DatabaseError& error) {
    throw fuzz::Finding(std::string("SQLite refuses a filter that was taken: ") + error.what());
  }
  return 0;
}
