// What a sweep's arms change, as [sweep] writes it in several places: tables of options with a value or several.
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

/// Why a sweep's arm cannot change an option; empty where it can.
std::string not_for_arms(std::string_view key);

/// Reads such tables of one file; what is wrong is added to `problems` with its place.
struct SweepChanges {
  const std::string& file;
  int layer;
  Problems& problems;

  Origin at(const toml::source_region& region) const { return origin_of(file, region, layer); }
  void problem(const toml::source_region& region, std::string_view text) {
    problems.add(fmt::format("{}: {}", at(region).text(), text));
  }

  /// Calls `use` for each option of a table of changes. Options are named in full, in quotes or in tables:
  /// { "attention.score" = ... } is { attention = { score = ... } }.
  using Use = std::function<void(const std::string& key, const Option&, const TomlEntry&)>;
  void each_option(const toml::table& table, const std::string& prefix, const Use& use);

  /// Adds the option's value, if it is one.
  void add_change(const std::string& key, const Option& option, const toml::node& node,
                  const toml::source_region& place, std::vector<Change>& out);

  /// Each option with its value.
  std::vector<Change> read_changes(const toml::table& table);

  /// `grid` or `zip`, by its name: each option with a list of values.
  std::vector<Axis> read_axes(const std::string& name, const toml::node& node);
};

} // namespace heed
