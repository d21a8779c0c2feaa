// Reading toml++'s nodes: values of options, positions, and order.
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

/// The value of a node for an option, checked: type, words, bounds. An integer will do where a real is wanted.
ReadValue read_node(const Option& option, std::string_view key, const toml::node& node);

/// A table's entries in the order in which they are written (toml++ sorts them by name).
struct TomlEntry {
  std::string name;
  toml::source_region at; ///< of the key
  const toml::node* node;
};
std::vector<TomlEntry> in_order(const toml::table& table);

/// Parses a whole file's text; throws heed::Refused with `name:line:column` where it is not TOML.
toml::table parse_toml(std::string_view text, const std::string& name);

} // namespace heed
