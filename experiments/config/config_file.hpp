// One configuration file: what it says, each key and value checked, before it is merged with others.
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
  std::optional<std::vector<BlockOverride>> block_overrides; ///< nothing where the file has none
  std::optional<std::vector<std::int64_t>> sweep_seeds;
  std::optional<std::vector<SweepBlock>> sweep_blocks;
  std::optional<LookSpec> sweep_looks;
  std::optional<Setting> sweep_match;
  std::optional<std::vector<NamedOption>> sweep_within;
  std::optional<TuneSpec> sweep_tune; ///< its seeds and axes empty where not given
  bool has_sweep = false;
};

/// What a file `extends`, as written, in order.
std::vector<std::pair<std::string, Origin>> read_extends(const toml::table& top, const std::string& name,
                                                         Problems& problems);

/// Reads all else of a file's top table. `layer` is given to every setting; what is wrong goes to `problems`.
ConfigFile read_config_file(const toml::table& top, const std::string& name, int layer, Problems& problems);

/// The place of a key or value in a file.
Origin origin_of(const std::string& file, const toml::source_region& at, int layer);

} // namespace heed
