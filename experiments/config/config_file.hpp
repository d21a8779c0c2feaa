// Reads one configuration file: checks each key and value of the file before it is merged with other files. [sweep] and
// [report.label] have readers of their own.
#pragma once

#include "experiments/config/problems.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <utility>
#include <variant>
#include <vector>

namespace heed {

/// Reads `[sweep]` into `out`. Checks every key that an arm changes: it must be known, of the right type, and within
/// bounds.
void read_sweep(const toml::node& sweep, const std::string& file, int layer, Problems& problems, ConfigFile& out);

/// The names of the options of [sweep].
const std::vector<std::string>& sweep_options();

/// Reads `sweep.seeds`: a list, or a number N for 0 .. N - 1. Returns the seeds or an error message, which contains
/// `name`.
std::variant<std::vector<std::int64_t>, std::string> read_seeds(const toml::node& node,
                                                                std::string_view name = "sweep.seeds");

/// What is wrong, and the node that it is about.
struct WrongNode {
  const toml::node* node;
  std::string why;
};

/// Reads `sweep.looks`: increasing numbers of seeds. The number of seeds in total is known when all files are read.
std::variant<std::vector<std::int64_t>, WrongNode> read_looks(const toml::node& node);

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
  std::optional<std::vector<std::string>> sweep_vary;
  std::optional<Setting> sweep_vary_values, sweep_vary_fixings; ///< integers
  Origin sweep_vary_origin;
  bool has_sweep = false;
  std::map<std::string, Setting> report_labels; ///< [report.label]: texts by the name of a metric or an arm
};

/// The names in a file's `extends`, as written and in order.
std::vector<std::pair<std::string, Origin>> read_extends(const toml::table& top, const std::string& name,
                                                         Problems& problems);

/// Reads the rest of a file's top table. Every setting gets this `layer`. Errors are added to `problems`.
ConfigFile read_config_file(const toml::table& top, const std::string& name, int layer, Problems& problems);

/// Reads a list of [[block.override]]; `place` names how it is written, for messages about another kind of value.
std::vector<BlockOverride> read_overrides(const toml::node& node, const std::string& file, int layer,
                                          std::string_view place, Problems& problems);

/// The error in a text of [report.label] for the metric or arm `of`; empty if there is none.
std::string wrong_label(const std::string& of, const std::string& text);

/// The position of a key or value in a file.
Origin origin_of(const std::string& file, const toml::source_region& at, int layer);

} // namespace heed
