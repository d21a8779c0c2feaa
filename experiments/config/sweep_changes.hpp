// Reads the changes that a sweep's arms make. [sweep] has them in several places, as tables of options with one value
// or a list of values.
#pragma once

#include "experiments/config/config_file.hpp"
#include "experiments/config/toml_values.hpp"
#include "experiments/config/values.hpp"

#include <fmt/format.h>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

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

} // namespace heed
