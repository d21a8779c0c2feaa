#include "experiments/config/sweep_file.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/toml_values.hpp"
#include "experiments/config/unknown_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace heed {
namespace {

struct SweepReader {
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
  void each_option(const toml::table& table, const std::string& prefix, const Use& use) {
    for (const TomlEntry& entry : in_order(table)) {
      const std::string key = full_name(prefix, entry.name);
      const toml::table* within = entry.node->as_table();
      if (key == "sweep" || key.starts_with("sweep.") || key == "extends" || key.starts_with("block.override"))
        problem(entry.at, fmt::format("a sweep's arm cannot change {}", key));
      else if (within && find_table(key)) each_option(*within, key, use);
      else if (const Option* option = find_option(key)) {
        if (const std::string why = not_for_arms(key); !why.empty()) problem(entry.at, why);
        else use(key, *option, entry);
      } else problem(entry.at, unknown_key(key));
    }
  }

  void add_change(const std::string& key, const Option& option, const toml::node& node,
                  const toml::source_region& place, std::vector<Change>& out) {
    ReadValue read = read_node(option, key, node);
    if (read.value) out.push_back({key, *read.value, at(place)});
    else problem(node.source(), read.problem);
  }

  std::vector<Change> read_changes(const toml::table& table) {
    std::vector<Change> out;
    each_option(table, "", [&](const std::string& key, const Option& option, const TomlEntry& entry) {
      add_change(key, option, *entry.node, entry.at, out);
    });
    return out;
  }

  /// `grid` or `zip`: each option with a list of values.
  void read_axes(const std::string& kind, const toml::node& node, SweepBlock& out) {
    const toml::table* table = node.as_table();
    if (!table || table->empty())
      return problem(node.source(),
                     fmt::format("{} is {}; it must be a table of options and their values, such as {} = "
                                 "{{ \"attention.score\" = [\"dot\", \"scaled_dot\"] }}",
                                 kind, table ? "empty" : node_in_words(node), kind));
    each_option(*table, "", [&](const std::string& key, const Option& option, const TomlEntry& entry) {
      const toml::array* list = entry.node->as_array();
      if (!list || list->empty())
        return problem(entry.node->source(), fmt::format("{} gives {} {}; it must be a list of the values to try", kind,
                                                         key, list ? "no values" : node_in_words(*entry.node)));
      std::vector<Change> values;
      for (const toml::node& value : *list) add_change(key, option, value, value.source(), values);
      out.axes.emplace_back(key, std::move(values));
    });
    for (const auto& [key, values] : out.axes)
      if (kind == "zip" && values.size() != out.axes.front().second.size())
        problem(node.source(), fmt::format("zip takes lists of one length: {} has {} values, {} has {}",
                                           out.axes.front().first, out.axes.front().second.size(), key, values.size()));
  }

  void read_off(const toml::node& node, SweepBlock& out) {
    const toml::table* table = node.as_table();
    if (!table || table->empty())
      return problem(node.source(), "off must name what each ablation changes, such as off.residual = "
                                    "{ \"block.residual\" = \"none\" }");
    for (const TomlEntry& entry : in_order(*table)) {
      const toml::table* changes = entry.node->as_table();
      if (!changes || changes->empty())
        problem(entry.node->source(),
                fmt::format("off.{} is {}; it must be a table of what it changes, such as off.{} = "
                            "{{ \"block.residual\" = \"none\" }}",
                            entry.name, changes ? "empty" : node_in_words(*entry.node), entry.name));
      else if (entry.name == "reference")
        problem(entry.at, "off.reference: the reference is the file without its [sweep]");
      else out.off.emplace_back(entry.name, read_changes(*changes));
    }
  }

  void read_exclude(const toml::node& node, SweepBlock& out) {
    const toml::array* list = node.as_array();
    if (!list)
      return problem(node.source(), fmt::format("exclude is {}; it must be a list of tables, such as exclude = "
                                                "[{{ \"model.heads\" = 8, \"model.width\" = 32 }}]",
                                                node_in_words(node)));
    for (const toml::node& entry : *list) {
      const toml::table* table = entry.as_table();
      if (!table || table->empty())
        problem(entry.source(), fmt::format("exclude holds {}; each entry must be a table of options and values",
                                            table ? "an empty table" : node_in_words(entry)));
      else out.exclude.push_back(read_changes(*table));
    }
  }

  SweepBlock read_block(const toml::table& table) {
    SweepBlock out;
    out.origin = at(table.source());
    const std::vector<std::string> kinds{"grid", "zip", "leave_one_out"};
    const auto holder = [](const std::string& kind) { return kind == "leave_one_out" ? "off" : kind.c_str(); };
    // Without a `kind`, the block is of the kind whose changes it holds.
    for (const std::string& kind : kinds)
      if (table.contains(holder(kind))) out.kind = kind;
    if (const toml::node* kind = table.get("kind")) {
      const auto* text = kind->as_string();
      if (!text || std::find(kinds.begin(), kinds.end(), text->get()) == kinds.end()) {
        problem(kind->source(), fmt::format("[[sweep.block]] kind is {}; it must be one of {}{}", node_in_words(*kind),
                                            list_in_words(kinds), text ? did_you_mean(text->get(), kinds) : ""));
        return out;
      }
      out.kind = text->get();
    }
    const std::string wanted = holder(out.kind);
    const std::vector<std::string> names{"kind", wanted, "exclude"};
    for (const TomlEntry& entry : in_order(table)) {
      if (entry.name == "kind") continue;
      if (entry.name == "exclude") read_exclude(*entry.node, out);
      else if (entry.name != wanted) {
        const std::string near = did_you_mean(entry.name, names);
        problem(entry.at, fmt::format("[[sweep.block]] of kind '{}' has no option '{}'{}", out.kind, entry.name,
                                      near.empty() ? "; it has " + list_in_words(names) : near));
      } else if (wanted == "off") read_off(*entry.node, out);
      else read_axes(wanted, *entry.node, out);
    }
    if (!table.contains(wanted))
      problem(table.source(),
              fmt::format("[[sweep.block]] of kind '{}' changes nothing: give it {}", out.kind, wanted));
    return out;
  }
};

} // namespace

std::string not_for_arms(std::string_view key) {
  if (key == "seed") return "a sweep's arm cannot change seed: seeds are replicates, so list them in sweep.seeds";
  const Option* option = find_option(key);
  if (option && !option->changes_results)
    return fmt::format("a sweep's arm cannot change {}: it is not part of a run's identity", key);
  return "";
}

std::variant<std::vector<std::int64_t>, std::string> read_seeds(const toml::node& node) {
  constexpr std::string_view allowed = "a list of integers from 0 on, such as seeds = [0, 1, 2], or how many";
  std::vector<std::int64_t> out;
  if (const auto* count = node.as_integer()) {
    if (count->get() < 1 || count->get() > 1'000'000)
      return fmt::format("sweep.seeds is {}; as a number it must be at least 1 and at most 1000000", count->get());
    for (std::int64_t i = 0; i < count->get(); ++i) out.push_back(i);
    return out;
  }
  const toml::array* list = node.as_array();
  if (!list || list->empty())
    return fmt::format("sweep.seeds is {}; it must be {}", list ? "an empty list" : node_in_words(node), allowed);
  for (const toml::node& entry : *list) {
    const auto* seed = entry.as_integer();
    if (!seed || seed->get() < 0)
      return fmt::format("sweep.seeds holds {}; it must be {}", node_in_words(entry), allowed);
    if (std::find(out.begin(), out.end(), seed->get()) != out.end())
      return fmt::format("sweep.seeds holds {} twice; each seed is one replicate", seed->get());
    out.push_back(seed->get());
  }
  return out;
}

void read_sweep(const toml::node& sweep, const std::string& file, int layer, Problems& problems, ConfigFile& out) {
  SweepReader reader{file, layer, problems};
  const toml::table* table = sweep.as_table();
  if (!table)
    return reader.problem(sweep.source(), fmt::format("[sweep] is a table, but here is {}", node_in_words(sweep)));
  const std::vector<std::string> names{"seeds", "block"};
  for (const TomlEntry& entry : in_order(*table)) {
    if (entry.name == "seeds") {
      const auto seeds = read_seeds(*entry.node);
      if (const auto* wrong = std::get_if<std::string>(&seeds)) reader.problem(entry.node->source(), *wrong);
      else out.sweep_seeds = std::get<0>(seeds);
    } else if (entry.name == "block") {
      out.sweep_blocks.emplace();
      const toml::array* list = entry.node->as_array();
      if (!list) reader.problem(entry.node->source(), "sweep.block is a list of tables: write [[sweep.block]]");
      else
        for (const toml::node& block : *list)
          if (const toml::table* t = block.as_table()) out.sweep_blocks->push_back(reader.read_block(*t));
          else reader.problem(block.source(), "sweep.block is a list of tables: write [[sweep.block]]");
    } else {
      const std::string near = did_you_mean(entry.name, names);
      reader.problem(entry.at, fmt::format("[sweep] has no option '{}'{}", entry.name,
                                           near.empty() ? "; it has " + list_in_words(names) : near));
    }
  }
}

} // namespace heed
