// What a comparison of results asks: the columns of the table, and how arms are compared.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// The fields have the names of the options of `heed compare`. Empty: the column is recognised by its name, or nothing
/// is asked.
struct ResultRequest {
  std::vector<std::string> metrics; ///< columns; the first decides, the others are compared as well
  std::string reference;            ///< the name of an arm, or a beginning that only one arm has
  // Columns. Several columns of `arm` together name an arm, and those of `pair` a pair of runs.
  std::vector<std::string> arm, pair, group;
  std::string seed, step, state, time, parameters;
  std::string first; ///< the group that the others are compared with, in interactions; empty: the first by name
  /// How runs are called in the wide form: "{arm}-seed{seed}".
  std::string run_name;
  // How arms are compared. "higher" or "METRIC=higher"; "0,1" or "METRIC=0,1"; "nats" or "METRIC=nats".
  std::vector<std::string> direction, bounds, unit;
  std::optional<double> margin, learned;
  std::string test = "paired"; ///< paired | unpaired
  /// float32 | float64: values that differ by its rounding are equal. Tables have all the digits that they state.
  std::string precision = "float64";
  // Texts for readers.
  std::string name; ///< of the report; empty: the table's name without its ending
  std::string question;

  /// In messages, options are arguments of a function, as in Python: `run_name` instead of --run-name.
  bool options_are_arguments = false;
  std::string option(const char* word) const {
    if (!options_are_arguments) return std::string("--") + word;
    std::string name = std::string("`") + word + "`";
    std::ranges::replace(name, '-', '_');
    return name;
  }
};

} // namespace heed
