// The kinds of sweep blocks in one table: how each kind is written, and how it is expanded into combinations of
// changes. Code that reads, expands or describes blocks iterates over this table. Changes are tables of options with
// one value or a list of values; a block of kind `random` draws them from distributions.
#pragma once

#include "experiments/config/config_file.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/toml_values.hpp"
#include "experiments/config/values.hpp"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
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

/// How a block writes its changes.
enum class SweepForm {
  crossed, ///< options with lists of values; all combinations
  paired,  ///< options with lists of values of equal length; combined by index
  sets,    ///< NAME = { option = value, ... }
  arms,    ///< like `sets`, or a list of such tables
  draws,   ///< options with distributions, and `count` and `seed`
};

/// One combination that a block asks for, before it is checked and resolved.
struct Candidate {
  std::vector<Change> changes;
  std::string label; ///< "without residual"; empty: the label is made from the changes
  Origin origin;
};

struct SweepKind {
  std::string name;
  std::string meaning; ///< half a sentence for descriptions
  /// The option that contains the changes; in a block without `kind`, the first kind whose holder is present applies
  std::string holder;
  SweepForm form;
  std::string each; ///< the name of one entry of `sets` in errors: "each ablation"
  /// Throws heed::Refused, with the position, for changes that cannot be combined.
  std::vector<Candidate> (*expand)(const SweepBlock&);
};

const std::vector<SweepKind>& sweep_kinds();

/// The maximum number of combinations of one block.
inline constexpr std::size_t most_arms = 100'000;

/// Every combination of the axes' values; the last axis varies fastest. Throws heed::Refused if there are more than
/// `most_arms`.
std::vector<std::vector<Change>> combinations(const std::vector<Axis>& axes, const Origin& origin);

/// The combinations of a block, according to its kind.
std::vector<Candidate> expand(const SweepBlock& block);

/// Why an arm of a sweep cannot change an option; empty if it can.
std::string not_for_arms(std::string_view key);

/// Reads tables of changes of one file. Errors are added to `problems` with their position.
struct SweepChanges {
  const std::string& file;
  int layer;
  Problems& problems;

  Origin at(const toml::source_region& region) const { return origin_of(file, region, layer); }
  void problem(const toml::source_region& region, std::string_view text) {
    problems.add(fmt::format("{}: {}", at(region).text(), text));
  }

  /// Calls `use` for each option of a table of changes. Option names are full names in quotes, or nested tables: {
  /// "attention.score" = ... } is the same as { attention = { score = ... } }.
  using Use = std::function<void(const std::string& key, const Option&, const TomlEntry&)>;
  void each_option(const toml::table& table, const std::string& prefix, const Use& use);

  /// Adds the option's value if it is valid.
  void add_change(const std::string& key, const Option& option, const toml::node& node,
                  const toml::source_region& place, std::vector<Change>& out);

  /// The changes of a table: each option with its value.
  std::vector<Change> read_changes(const toml::table& table);

  /// The axes of `grid` or `zip` (`name`): each option with a list of values.
  std::vector<Axis> read_axes(const std::string& name, const toml::node& node);
};

/// A distribution. A sweep file writes it as `{ NAME = [...] }` for one option.
struct Distribution {
  std::string name;
  std::string takes;                                ///< a description of the list's contents
  std::string (*wrong)(const Option&, const Draw&); ///< the error in the list; empty if there is none
  Value (*draw)(const std::vector<Change>& values, std::uint64_t bits); ///< from 64 random bits
};

/// - uniform = [a, b]: x = a + (b - a) u, u uniform in [0, 1)
/// - log_uniform = [a, b]: x = a (b / a)^u, 0 < a < b, so that every factor is as likely
/// - int_uniform = [a, b]: a whole number from a to b, both included
/// - choice = [...]: one of the values
/// Real numbers are rounded to four significant digits and clamped to their bounds. So the value in a table or a paper
/// is exactly the value of the run, and a logarithm that differs in its last digit on another machine does not give a
/// different arm.
const std::vector<Distribution>& distributions();
const Distribution* find_distribution(std::string_view name);

/// Draw number `index` of an option, by Philox with the block's seed (Stream::sweep). It only depends on the seed, the
/// option's name and the index. So more arms, or another option in the block, do not change it.
Value drawn_value(const Draw& draw, std::int64_t seed, std::int64_t index);

} // namespace heed
