#include "experiments/config/sweep_changes.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/formulas.hpp"
#include "experiments/config/unknown_names.hpp"

#include <fmt/format.h>

namespace heed {

std::string not_for_arms(std::string_view key) {
  if (key == "seed") return "a sweep's arm cannot change seed: seeds are replicates, so list them in sweep.seeds";
  const Option* option = find_option(key);
  if (option && !option->changes_results)
    return fmt::format("a sweep's arm cannot change {}: it is not part of a run's identity", key);
  return "";
}

void SweepChanges::each_option(const toml::table& table, const std::string& prefix, const Use& use) {
  for (const TomlEntry& entry : in_order(table)) {
    const std::string key = full_name(prefix, entry.name);
    const toml::table* within = entry.node->as_table();
    if (key == "sweep" || key.starts_with("sweep.") || key == "extends" || key.starts_with("block.override"))
      problem(entry.at, fmt::format("a sweep's arm cannot change {}", key));
    else if (within && (find_table(key) || key == formula_parameters_key)) each_option(*within, key, use);
    else if (const Option* option = find_option(key)) {
      if (const std::string why = not_for_arms(key); !why.empty()) problem(entry.at, why);
      else use(key, *option, entry);
    } else problem(entry.at, unknown_key(key));
  }
}

void SweepChanges::add_change(const std::string& key, const Option& option, const toml::node& node,
                              const toml::source_region& place, std::vector<Change>& out) {
  ReadValue read = read_node(option, key, node);
  if (read.value) out.push_back({key, *read.value, at(place)});
  else problem(node.source(), read.problem);
}

std::vector<Change> SweepChanges::read_changes(const toml::table& table) {
  std::vector<Change> out;
  each_option(table, "", [&](const std::string& key, const Option& option, const TomlEntry& entry) {
    add_change(key, option, *entry.node, entry.at, out);
  });
  return out;
}

std::vector<Axis> SweepChanges::read_axes(const std::string& name, const toml::node& node) {
  std::vector<Axis> out;
  const toml::table* table = node.as_table();
  if (!table || table->empty()) {
    problem(node.source(), fmt::format("{} is {}; it must be a table of options and their values, such as {} = "
                                       "{{ \"attention.score\" = [\"dot\", \"scaled_dot\"] }}",
                                       name, table ? "empty" : node_in_words(node), name));
    return out;
  }
  each_option(*table, "", [&](const std::string& key, const Option& option, const TomlEntry& entry) {
    const toml::array* list = entry.node->as_array();
    if (!list || list->empty())
      return problem(entry.node->source(), fmt::format("{} gives {} {}; it must be a list of the values to try", name,
                                                       key, list ? "no values" : node_in_words(*entry.node)));
    std::vector<Change> values;
    for (const toml::node& value : *list) add_change(key, option, value, value.source(), values);
    out.emplace_back(key, std::move(values));
  });
  return out;
}

} // namespace heed
