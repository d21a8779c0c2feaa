// Writes a resolved configuration as text: as TOML, and as a flat list of options.
#include "experiments/config/block_keys.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "options/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace heed {
namespace {

/// One option that has an effect, with its value.
struct Line {
  std::size_t place; ///< the index of the option
  const std::string* table;
  const Option* option;
  std::string value;
  std::vector<std::string> texts; ///< for formula parameters: their lines
  bool replaces = false;          ///< of a block that differs from another: does the option have an effect there, too?
  const std::string& key() const { return all_keys()[place]; }
};

bool is_parameters(const Line& line) { return line.key() == formula_parameters_key; }

/// The option values of all sections, as one block has them, and of the chosen variants. They decide whether an option
/// has an effect and is written.
struct Deciding {
  OfOptions<Value> values;
  std::vector<const Variant*> chosen;
};

Deciding deciding(const Config& config, const LayerChoice& block) {
  Deciding out;
  for (const Section& s : sections()) {
    std::size_t at = first_option(s.table);
    for (Value& value : s.get ? s.get(config) : s.get_layer(block)) out.values[at++] = std::move(value);
  }
  for (const FamilyPlace& place : family_places()) {
    const Variant* variant = find_variant(place.family, out.values.at(place.key));
    if (!variant) continue;
    out.chosen.push_back(variant);
    std::size_t at = first_option(full_name(place.family.table, variant->name));
    const OptionValues& chosen = place.options ? config.*place.options : block.*place.layer_options;
    for (const Option& o : variant->options) {
      const auto found = chosen.find(o.name);
      out.values[at++] = found == chosen.end() ? o.default_value : found->second;
    }
  }
  return out;
}

/// The options that have an effect, in the order of the catalogue: those of the whole run and those of one block.
std::vector<Line> lines_of(const Config& config, const LayerChoice& block) {
  const auto [values, chosen] = deciding(config, block);
  const ValueOf value_of = [&values = values](std::size_t option) -> const Value& { return values[option]; };
  std::vector<Line> out;
  for (const TableInfo& table : catalogue()) {
    if (table.variant && std::ranges::find(chosen, table.variant) == chosen.end()) continue;
    std::size_t at = first_option(table.table);
    for (const Option& o : table.options) {
      if (!unmet_dependency(at, value_of) && (all_keys()[at] != segment_end_key || is_given(values[at]))) {
        out.push_back({at, &table.table, &o, value_text(values[at]), {}, false});
        if (is_parameters(out.back())) out.back().texts = std::get<std::vector<std::string>>(values[at]);
      }
      ++at;
    }
  }
  return out;
}

/// The differing lines of a block. `stack`: "decoder" for a block of a second stack; empty for one of the first.
struct Exception {
  std::string stack;
  std::int64_t block;
  std::vector<Line> lines;
};

/// A configuration as the lines of its most common block, and the differing lines of the other blocks.
struct Sheet {
  std::vector<Line> lines;
  std::vector<Exception> exceptions;
};

bool contains(const std::vector<Line>& lines, const Line& line) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const Line& l) { return l.option == line.option && l.value == line.value; });
}

bool same(const std::vector<Line>& a, const std::vector<Line>& b) {
  // Blocks with equal choices also have their lines in the same order.
  const auto equal = [](const Line& x, const Line& y) { return x.option == y.option && x.value == y.value; };
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(), equal)) return true;
  return a.size() == b.size() && std::all_of(b.begin(), b.end(), [&](const Line& l) { return contains(a, l); });
}

bool same_choices(const LayerChoice& a, const LayerChoice& b) {
  return std::ranges::all_of(sections(), [&](const Section& s) { return s.get || s.get_layer(a) == s.get_layer(b); }) &&
         std::ranges::all_of(family_places(), [&](const FamilyPlace& place) {
           return place.options || a.*place.layer_options == b.*place.layer_options;
         });
}

/// Blocks with the same lines.
struct Alike {
  std::vector<Line> lines;
  std::vector<std::int64_t> blocks;
};

std::vector<Alike> alike_blocks(const Config& config, const std::vector<LayerChoice>& stack) {
  std::vector<Alike> out;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const LayerChoice& block = stack[i];
    auto found = std::ranges::find_if(out, [&](const Alike& a) { // most blocks are equal, and lines take time to make
      return same_choices(stack[static_cast<std::size_t>(a.blocks.front())], block);
    });
    if (found == out.end()) {
      std::vector<Line> lines = lines_of(config, block);
      found = std::ranges::find_if(out, [&](const Alike& a) { return same(a.lines, lines); });
      if (found == out.end()) found = out.insert(found, {std::move(lines), {}});
    }
    found->blocks.push_back(number);
  }
  if (out.empty()) out.push_back({lines_of(config, {}), {}});
  return out;
}

/// Adds the lines of the whole run that have an effect because of some block's choices, in the order of the catalogue.
void add_lines_of_run(std::vector<Line>& lines, const std::vector<Line>& of_block) {
  for (const Line& line : of_block)
    if (!belongs_to_blocks(line.key()) && !contains(lines, line))
      lines.insert(std::ranges::upper_bound(lines, line.place, {}, &Line::place), line);
}

/// The lines of a block that differ from those of another block.
std::vector<Line> differing_lines(const std::vector<Line>& lines, const std::vector<Line>& others) {
  std::vector<Line> out;
  for (const Line& line : lines) {
    if (!belongs_to_blocks(line.key()) || contains(others, line)) continue;
    out.push_back(line);
    out.back().replaces = std::ranges::find(others, line.option, &Line::option) != others.end();
  }
  return out;
}

Sheet sheet_of(const Config& config) {
  const std::vector<Alike> all = alike_blocks(config, config.layers);
  const auto common = std::ranges::max_element(all, {}, [](const Alike& a) { return a.blocks.size(); });
  const std::vector<Alike> of_decoder = config.decoder_layers.empty() ? std::vector<Alike>()
                                                                      : alike_blocks(config, config.decoder_layers);
  Sheet out{common->lines, {}};
  for (const auto* stack : {&all, &of_decoder})
    for (const Alike& alike : *stack) add_lines_of_run(out.lines, alike.lines);
  std::vector<const Alike*> by_block(std::max<std::size_t>(config.layers.size(), 1));
  for (const Alike& alike : all)
    for (const std::int64_t block : alike.blocks) {
      by_block[static_cast<std::size_t>(block)] = &alike;
      if (&alike != &*common) out.exceptions.push_back({"", block, differing_lines(alike.lines, out.lines)});
    }
  std::ranges::sort(out.exceptions, {}, &Exception::block);
  std::vector<Exception> decoder;
  for (const Alike& alike : of_decoder)
    for (const std::int64_t block : alike.blocks) { // configured as the encoder's, unless said otherwise
      const Alike& encoder = *by_block[std::min(static_cast<std::size_t>(block), by_block.size() - 1)];
      if (!same(encoder.lines, alike.lines))
        decoder.push_back({"decoder", block, differing_lines(alike.lines, encoder.lines)});
    }
  std::ranges::sort(decoder, {}, &Exception::block);
  out.exceptions.insert(out.exceptions.end(), std::make_move_iterator(decoder.begin()),
                        std::make_move_iterator(decoder.end()));
  return out;
}

std::string name_in_override(const Line& line) { return name_in_block(line.key()); }

/// The lines of a single block, by the options' full names.
std::map<std::string, std::string> values_in_block(const Config& config, const LayerChoice& block) {
  std::map<std::string, std::string> out;
  for (const Line& line : lines_of(config, block))
    if (!is_parameters(line)) out[line.key()] = line.value;
    else
      for (const WrittenParameter& parameter : written_parameters(line.texts))
        for (const auto& [option, value] : parameter.options) out[full_name(parameter.table, option->name)] = value;
  return out;
}

} // namespace

std::string to_toml(const Config& config) {
  const Sheet sheet = sheet_of(config);
  std::string out, table;
  for (const Line& line : sheet.lines) {
    if (*line.table != table) {
      table = *line.table;
      out += fmt::format("\n[{}]\n", table);
    }
    if (!is_parameters(line)) {
      out += fmt::format("{} = {}\n", line.option->name, line.value);
      continue;
    }
    for (const WrittenParameter& parameter : written_parameters(line.texts)) {
      out += fmt::format("\n[{}]\n", parameter.table);
      for (const auto& [option, value] : parameter.options) out += fmt::format("{} = {}\n", option->name, value);
    }
  }
  for (const auto& [stack, block, lines] : sheet.exceptions) {
    out += "\n[[block.override]]\n";
    if (!stack.empty()) out += fmt::format("stack = \"{}\"\n", stack);
    out += fmt::format("layers = [{}]\n", block);
    for (const Line& line : lines) {
      if (!is_parameters(line)) out += fmt::format("{} = {}\n", name_in_override(line), line.value);
      else
        for (const WrittenParameter& parameter : written_parameters(line.texts))
          for (const auto& [option, value] : parameter.options)
            out += fmt::format("{}.{} = {}\n", parameter.table, option->name, value);
    }
  }
  return out;
}

std::vector<FlatOption> flatten(const Config& config) {
  const Sheet sheet = sheet_of(config);
  const auto is_default = [](const Line& line) {
    return line.key() != seed_key && line.value == value_text(line.option->default_value);
  };
  std::vector<FlatOption> out;
  const auto add = [&](const std::string& before, const Line& line, bool identifies) {
    const bool counts = line.option->changes_results;
    if (!is_parameters(line)) {
      out.push_back({before.empty() ? line.key() : before + name_in_override(line), line.value, counts,
                     counts && identifies, line.key()});
      return;
    }
    for (const WrittenParameter& parameter : written_parameters(line.texts))
      for (const auto& [option, value] : parameter.options)
        out.push_back({fmt::format("{}{}.{}", before, parameter.table, option->name), value, true, true,
                       formula_parameters_key});
  };
  for (const Line& line : sheet.lines) add("", line, !is_default(line));
  // Where the other blocks have another value, a block with the default differs from them exactly by this value.
  for (const auto& [stack, block, lines] : sheet.exceptions)
    for (const Line& line : lines)
      add(fmt::format("block[{}{}{}].", stack, stack.empty() ? "" : ".", block), line,
          line.replaces || !is_default(line));
  return out;
}

void add_block_values(const Config& config, const std::vector<std::string>& keys,
                      std::map<std::string, std::string>& flat) {
  std::map<std::pair<bool, std::int64_t>, std::map<std::string, std::string>> blocks; // lines take time to make
  for (const std::string& key : keys) {
    if (!names_block(key)) continue;
    const BlockKey read = std::get<BlockKey>(read_block_key(key));
    const bool second = read.stack == "decoder" && !config.decoder_layers.empty();
    const std::vector<LayerChoice>& stack = second ? config.decoder_layers : config.layers;
    flat.erase(key);
    if (static_cast<std::size_t>(read.block) >= stack.size()) continue;
    auto known = blocks.find({second, read.block});
    if (known == blocks.end())
      known = blocks
                  .emplace(std::pair(second, read.block),
                           values_in_block(config, stack[static_cast<std::size_t>(read.block)]))
                  .first;
    if (const auto value = known->second.find(read.option); value != known->second.end()) flat[key] = value->second;
  }
}

} // namespace heed
