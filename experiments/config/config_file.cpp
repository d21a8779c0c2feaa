#include "experiments/config/config_file.hpp"

#include "experiments/config/block_keys.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/toml_values.hpp"
#include "experiments/config/unknown_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {
namespace {

constexpr std::int64_t most_blocks = 1024; // model.layers has at most as many

struct Reader {
  const std::string& name;
  int layer;
  Problems& problems;

  Origin at(const toml::source_region& region) const { return origin_of(name, region, layer); }
  void problem(const toml::source_region& region, std::string_view text) {
    problems.add(fmt::format("{}: {}", at(region).text(), text));
  }

  /// Reads one entry of a table: an option or a subtable.
  void read_entry(const std::string& table, const TomlEntry& entry, std::map<std::string, Setting>& values) {
    const std::string key = full_name(table, entry.name);
    const bool plain = entry.name.find('.') == std::string::npos;
    if (key == formula_parameters_key && entry.node->is_table()) {
      read_entries(key, *entry.node->as_table(), values);
    } else if (const Option* option = plain ? find_option(key) : nullptr) {
      ReadValue read = read_node(*option, key, *entry.node);
      if (read.value) values[key] = {*read.value, at(entry.at)};
      else problem(entry.node->source(), read.problem);
    } else if (plain && find_table(key)) {
      if (const toml::table* within = entry.node->as_table()) read_entries(key, *within, values);
      else
        problem(entry.node->source(), fmt::format("[{}] is a table, but here is {}", key, node_in_words(*entry.node)));
    } else if (names_block(key)) {
      problem(entry.at,
              fmt::format("{}: in a file, options of single blocks are written in [[block.override]], such as "
                          "layers = [3]",
                          key));
    } else {
      problem(entry.at, plain && entry.node->is_table() ? unknown_table(key) : unknown_option(table, entry.name));
    }
  }

  void read_entries(const std::string& table, const toml::table& entries, std::map<std::string, Setting>& values) {
    for (const TomlEntry& entry : in_order(entries)) read_entry(table, entry, values);
  }

  /// Reads `layers = [0, 1]` of an override.
  void read_layers(const toml::node& node, BlockOverride& out) {
    constexpr std::string_view allowed = "the blocks' numbers, counted from 0, such as layers = [0, 1]";
    const toml::array* list = node.as_array();
    if (!list || list->empty())
      return problem(node.source(), fmt::format("[[block.override]] layers is {}; it must be {}",
                                                list ? "an empty list" : node_in_words(node), allowed));
    for (const toml::node& entry : *list) {
      const auto* number = entry.as_integer();
      if (!number || number->get() < 0)
        problem(entry.source(),
                fmt::format("[[block.override]] layers holds {}; it must be {}", node_in_words(entry), allowed));
      else if (std::find(out.layers.begin(), out.layers.end(), number->get()) != out.layers.end())
        problem(entry.source(), fmt::format("[[block.override]] layers holds {} twice", number->get()));
      else out.layers.push_back(number->get());
    }
  }

  /// Reads a number of an override.
  void read_number(const TomlEntry& entry, std::int64_t least, std::int64_t& to) {
    const auto* number = entry.node->as_integer();
    if (number && number->get() >= least && number->get() <= most_blocks) to = number->get();
    else
      problem(entry.node->source(), fmt::format("[[block.override]] {} is {}; it must be a number from {} to {}",
                                                entry.name, node_in_words(*entry.node), least, most_blocks));
  }

  BlockOverride read_override(const toml::table& table) {
    BlockOverride out;
    out.origin = at(table.source());
    for (const TomlEntry& entry : in_order(table)) {
      const bool has_table = entry.name == "attention" || entry.name == "position" || entry.name == "mixer";
      if (entry.name == "layers") read_layers(*entry.node, out);
      else if (entry.name == "every") read_number(entry, 1, out.every);
      else if (entry.name == "from") read_number(entry, 0, out.from);
      else if (entry.name == "to") read_number(entry, 0, out.to);
      else if (entry.name == "stack") read_stack(*entry.node, out);
      else if (names_option(entry.name)) continue; // below, since tables may set it, too
      else if (has_table || find_option("block." + entry.name) || find_table("block." + entry.name))
        read_entry(has_table ? "" : "block", entry, out.values);
      else problem(entry.at, wrong_override_name(entry.name));
    }
    for (const TomlEntry& entry : in_order(table))
      if (names_option(entry.name)) read_whole_name(entry, out);
    const bool has_range = table.contains("every") || table.contains("from") || table.contains("to");
    if (!table.contains("layers") && !table.contains("stack") && !has_range)
      problem(table.source(), "[[block.override]] does not say which blocks: give layers, such as layers = [0, 1], or "
                              "every, such as every = 4");
    if (table.contains("layers") && has_range)
      problem(table.source(), "[[block.override]] has layers, and one of every, from and to: give only one of the two");
    if (out.to >= 0 && out.to < out.from)
      problem(table.source(), fmt::format("[[block.override]] from = {} is above to = {}", out.from, out.to));
    for (const auto& [key, setting] : out.values)
      if (!belongs_to_blocks(key))
        problems.add(
            fmt::format("{}: [[block.override]] can't set {}: it is about the token embeddings, which belong to "
                        "the whole model; set it in [position]",
                        setting.origin.text(), key));
    return out;
  }

  /// True for an option's full name in quotes, as arms write it: "mixer.kind".
  static bool names_option(const std::string& name) {
    return name.find('.') != std::string::npos && !name.starts_with("block.") && find_option(name) &&
           (belongs_to_blocks(name) || name.starts_with("position."));
  }

  void read_whole_name(const TomlEntry& entry, BlockOverride& out) {
    ReadValue read = read_node(*find_option(entry.name), entry.name, *entry.node);
    if (!read.value) problem(entry.node->source(), read.problem);
    else if (!out.values.emplace(entry.name, Setting{*read.value, at(entry.at)}).second)
      problem(entry.at, fmt::format("[[block.override]] sets {} twice", entry.name));
  }

  /// Reads `stack = "decoder"` of an override.
  void read_stack(const toml::node& node, BlockOverride& out) {
    const auto* text = node.as_string();
    if (text && (text->get() == "encoder" || text->get() == "decoder")) out.stack = text->get();
    else
      problem(node.source(), fmt::format("[[block.override]] stack is {}; it must be 'encoder' or 'decoder'",
                                         text ? "'" + text->get() + "'" : node_in_words(node)));
  }

  /// Reads [report.label]. A name with dots may be written without quotes, as nested tables.
  void read_labels(const std::string& prefix, const toml::node& node, std::map<std::string, Setting>& out) {
    const toml::table* table = node.as_table();
    if (!table)
      return problem(node.source(), fmt::format("[report.label] is a table, but here is {}", node_in_words(node)));
    for (const TomlEntry& entry : in_order(*table)) {
      const std::string of = full_name(prefix, entry.name);
      if (entry.node->is_table()) {
        read_labels(of, *entry.node, out);
        continue;
      }
      const auto* text = entry.node->as_string();
      const std::string wrong = wrong_label(of, text ? text->get() : "");
      if (text && wrong.empty()) out[of] = {text->get(), at(entry.at)};
      else
        problem(entry.node->source(),
                text ? wrong
                     : fmt::format("report.label of \"{}\" is {}; it must be a text", of, node_in_words(*entry.node)));
    }
  }

  static std::string wrong_override_name(const std::string& entry) {
    std::vector<std::string> allowed{"layers", "every", "from", "to", "stack"};
    for (const Option& o : find_table("block")->options) allowed.push_back(o.name);
    allowed.insert(allowed.end(), {"mixer", "attention", "position"});
    const std::string near = did_you_mean(entry, allowed);
    return fmt::format("[[block.override]] has no option '{}'{}", entry,
                       near.empty() ? "; it has " + list_in_words(allowed) : near);
  }

  std::vector<BlockOverride> read_overrides(const toml::node& node, std::string_view place) {
    std::vector<BlockOverride> out;
    const toml::array* list = node.as_array();
    const std::string otherwise = fmt::format("block.override is a list of tables: write {}", place);
    if (!list) problem(node.source(), otherwise);
    else
      for (const toml::node& entry : *list)
        if (const toml::table* table = entry.as_table()) out.push_back(read_override(*table));
        else problem(entry.source(), otherwise);
    return out;
  }
};

} // namespace

std::vector<BlockOverride> read_overrides(const toml::node& node, const std::string& file, int layer,
                                          std::string_view place, Problems& problems) {
  return Reader{file, layer, problems}.read_overrides(node, place);
}

std::string wrong_label(const std::string& of, const std::string& text) {
  if (text.empty())
    return fmt::format("report.label of \"{}\" is empty; it must be a text, such as val_accuracy = \"accuracy\"", of);
  return wrong_text(fmt::format("report.label of \"{}\"", of), text);
}

Origin origin_of(const std::string& file, const toml::source_region& at, int layer) {
  if (is_without_lines(file)) return {file, 0, 0, layer};
  return {file, static_cast<std::int64_t>(at.begin.line), static_cast<std::int64_t>(at.begin.column), layer};
}

std::vector<std::pair<std::string, Origin>> read_extends(const toml::table& top, const std::string& name,
                                                         Problems& problems) {
  std::vector<std::pair<std::string, Origin>> out;
  auto read_one = [&](const toml::node& node) {
    const Origin at = origin_of(name, node.source(), 0);
    const auto* text = node.as_string();
    if (text && !text->get().empty()) out.emplace_back(text->get(), at);
    else
      problems.add(
          fmt::format("{}: extends is {}; it must be a file or a list of files, such as extends = \"base.toml\"",
                      at.text(), text ? "empty" : node_in_words(node)));
  };
  const toml::node* extends = top.get("extends");
  if (const toml::array* list = extends ? extends->as_array() : nullptr)
    for (const toml::node& entry : *list) read_one(entry);
  else if (extends) read_one(*extends);
  return out;
}

ConfigFile read_config_file(const toml::table& top, const std::string& name, int layer, Problems& problems) {
  ConfigFile out;
  Reader reader{name, layer, problems};
  for (const TomlEntry& entry : in_order(top)) {
    if (entry.name == "extends") continue;
    if (entry.name == "sweep") {
      out.has_sweep = true;
      read_sweep(*entry.node, name, layer, problems, out);
    } else if (const toml::table* block = entry.name == "block" ? entry.node->as_table() : nullptr) {
      for (const TomlEntry& within : in_order(*block))
        if (within.name == "override") out.block_overrides = reader.read_overrides(*within.node, "[[block.override]]");
        else reader.read_entry("block", within, out.values);
    } else if (const toml::table* report = entry.name == "report" ? entry.node->as_table() : nullptr) {
      for (const TomlEntry& within : in_order(*report))
        if (within.name == "label") reader.read_labels("", *within.node, out.report_labels);
        else reader.read_entry("report", within, out.values);
    } else {
      reader.read_entry("", entry, out.values);
    }
  }
  return out;
}

} // namespace heed
