// What may stand in [sweep], [[sweep.block]] and [sweep.tune]: for people, programs and editors. Reading is in
// sweep_file.hpp; these tables are no options of a run, and no arm changes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct SweepOption {
  std::string name;
  std::string meaning; ///< a sentence or two
  std::string takes;   ///< what its value is
  std::string example; ///< lines of TOML that may stand in the table as they are
};

struct SweepTable {
  std::string table;   ///< "sweep.block"
  std::string heading; ///< "[[sweep.block]]"
  std::string title;
  std::vector<SweepOption> options;
};

const std::vector<SweepTable>& sweep_tables();

/// Whether a name is of these tables: "sweep", "sweep.block.grid", and also "sweep.blok".
bool names_sweep(std::string_view name);

/// The tables with the options that `filter` names: a table with those within, or one option. Throws heed::Refused for
/// what isn't there, with the nearest that is.
std::vector<SweepTable> sweep_tables(std::string_view filter);

} // namespace heed
