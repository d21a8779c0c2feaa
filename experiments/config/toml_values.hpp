// Reads the nodes of toml++: option values, positions, and the written order of entries.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// "the text 'yes'", "the integer 5", "a list", ...
std::string node_in_words(const toml::node& node);

/// The value of a node for an option, after its type, words and bounds are checked. An integer is accepted for a real
/// option.
ReadValue read_node(const Option& option, std::string_view key, const toml::node& node);

/// The entries of a table in written order (toml++ sorts them by name).
struct TomlEntry {
  std::string name;
  toml::source_region at; ///< position of the key
  const toml::node* node;
};
std::vector<TomlEntry> in_order(const toml::table& table);

/// Parses the text of a whole file. Throws heed::Refused with `name:line:column` if it is not valid TOML.
toml::table parse_toml(std::string_view text, const std::string& name);

} // namespace heed
