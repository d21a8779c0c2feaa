// Descriptions of the options in [sweep], [[sweep.block]], [sweep.tune] and [report.label], for people, programs and
// editors. The code that reads them is in sweep_file.hpp and config_file.hpp. They are not options of a run, and no arm
// can change them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct SweepOption {
  std::string name;
  std::string meaning; ///< a sentence or two
  std::string takes;   ///< a description of its value
  std::string example; ///< lines of TOML that are valid in the table as they are
};

struct SweepTable {
  std::string table;   ///< "sweep.block"
  std::string heading; ///< "[[sweep.block]]"
  std::string title;
  std::vector<SweepOption> options;
};

const std::vector<SweepTable>& sweep_tables();

/// True if a name belongs to these tables: "sweep", "sweep.block.grid", "report.label", and also the misspelt
/// "sweep.blok".
bool names_sweep(std::string_view name);

/// The tables and options that `filter` names: a table with its subtables, or one option. Throws heed::Refused if the
/// name does not exist; the message has the nearest existing name.
std::vector<SweepTable> sweep_tables(std::string_view filter);

} // namespace heed
