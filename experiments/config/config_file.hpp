// Reads one configuration file: checks each key and value of the file before it is merged with other files.
#pragma once

#include "experiments/config/problems.hpp"
#include "experiments/config/settings.hpp"

#include <toml++/toml.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

struct ConfigFile {
  std::map<std::string, Setting> values;                     ///< by full name
  std::optional<std::vector<BlockOverride>> block_overrides; ///< empty if the file has none
  std::optional<std::vector<std::int64_t>> sweep_seeds;
  std::optional<std::vector<SweepBlock>> sweep_blocks;
  std::optional<LookSpec> sweep_looks;
  std::optional<Setting> sweep_match;
  std::optional<Setting> sweep_reference;
  std::optional<std::vector<NamedOption>> sweep_within;
  std::optional<TuneSpec> sweep_tune; ///< seeds and axes are empty if the file has none
  bool has_sweep = false;
  std::map<std::string, Setting> report_labels; ///< [report.label]: texts by the name of a metric or an arm
};

/// The names in a file's `extends`, as written and in order.
std::vector<std::pair<std::string, Origin>> read_extends(const toml::table& top, const std::string& name,
                                                         Problems& problems);

/// Reads the rest of a file's top table. Every setting gets this `layer`. Errors are added to `problems`.
ConfigFile read_config_file(const toml::table& top, const std::string& name, int layer, Problems& problems);

/// The error in a text of [report.label] for the metric or arm `of`; empty if there is none.
std::string wrong_label(const std::string& of, const std::string& text);

/// The position of a key or value in a file.
Origin origin_of(const std::string& file, const toml::source_region& at, int layer);

} // namespace heed
