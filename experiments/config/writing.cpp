// Writes a resolved configuration as text: as TOML, and as a flat list of options.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/dependencies.hpp"
#include "experiments/config/formulas.hpp"
#include "experiments/config/values.hpp"
#include "options/variant.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {
namespace {

/// One option that has an effect, with its value.
struct Line {
  std::size_t place; ///< the index of the option
  const std::string* table;
  const Option* option;
  std::string value;
  std::vector<std::string> texts; ///< for formula parameters: their lines
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
      if (!unmet_dependency(at, value_of) || std::ranges::count(config.without_effect, all_keys()[at]) > 0) {
        out.push_back({at, &table.table, &o, value_text(values[at]), {}});
        if (is_parameters(out.back())) out.back().texts = std::get<std::vector<std::string>>(values[at]);
      }
      ++at;
    }
  }
  return out;
}

/// A configuration as the lines of its most common block, and the differing lines of the other blocks.
struct Sheet {
  std::vector<Line> lines;
  std::vector<std::pair<std::int64_t, std::vector<Line>>> exceptions; ///< block, its differing lines
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

std::vector<Alike> alike_blocks(const Config& config) {
  std::vector<Alike> out;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const LayerChoice& block = config.layers[i];
    auto found = std::ranges::find_if(out, [&](const Alike& a) { // most blocks are equal, and lines take time to make
      return same_choices(config.layers[static_cast<std::size_t>(a.blocks.front())], block);
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

Sheet sheet_of(const Config& config) {
  std::vector<Alike> all = alike_blocks(config);
  const auto common = std::ranges::max_element(all, {}, [](const Alike& a) { return a.blocks.size(); });
  Sheet out{std::move(common->lines), {}};
  for (auto alike = all.begin(); alike != all.end(); ++alike) {
    if (alike == common) continue;
    std::vector<Line> differing;
    for (const Line& line : alike->lines)
      if (!contains(out.lines, line)) differing.push_back(line);
    for (const std::int64_t block : alike->blocks) out.exceptions.emplace_back(block, differing);
  }
  std::ranges::sort(out.exceptions, {}, &std::pair<std::int64_t, std::vector<Line>>::first);
  return out;
}

/// The name of an option in [[block.override]]: without "block.".
std::string name_in_override(const Line& line) {
  const std::string& key = line.key();
  return key.starts_with("block.") ? key.substr(6) : key;
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
  for (const auto& [block, lines] : sheet.exceptions) {
    out += fmt::format("\n[[block.override]]\nlayers = [{}]\n", block);
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

std::vector<FlatOption> flatten(const Config& config, const std::map<std::string, Value>& later) {
  const Sheet sheet = sheet_of(config);
  const auto is_neutral = [&](const Line& line) {
    const auto made_up = later.find(line.key());
    const std::optional<Value> neutral = made_up != later.end() ? std::optional(made_up->second) : line.option->neutral;
    return neutral && value_text(*neutral) == line.value;
  };
  const auto is_common = [&](const Line& line) {
    return std::ranges::find(sheet.lines, line.option, &Line::option) != sheet.lines.end();
  };
  std::vector<FlatOption> out;
  const auto add = [&](const std::string& before, const Line& line, bool identifies) {
    const bool counts = line.option->changes_results;
    if (!is_parameters(line)) {
      out.push_back({before.empty() ? line.key() : before + name_in_override(line), line.value, counts,
                     counts && identifies});
      return;
    }
    for (const WrittenParameter& parameter : written_parameters(line.texts))
      for (const auto& [option, value] : parameter.options)
        out.push_back({fmt::format("{}{}.{}", before, parameter.table, option->name), value, true, true});
  };
  for (const Line& line : sheet.lines) add("", line, !is_neutral(line));
  // A block with a neutral value, where the other blocks have a non-neutral one, differs from them exactly by this
  // value. So the value is included.
  for (const auto& [block, lines] : sheet.exceptions)
    for (const Line& line : lines) add(fmt::format("block[{}].", block), line, is_common(line) || !is_neutral(line));
  return out;
}

} // namespace heed
