#include "experiments/config/chance_sources.hpp"
#include "experiments/config/schema.hpp"

#include "autograd/error.hpp"
#include "experiments/config/block_keys.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/sweep_blocks.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/text.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <type_traits>

namespace heed {
namespace {

namespace json = boost::json;

json::value to_json(const Value& value) {
  return std::visit(
      [](const auto& v) -> json::value {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, WordOrNumber>)
          return v.word.empty() ? json::value(v.number) : json::value(v.word);
        else return json::value_from(v);
      },
      value);
}

json::array to_json(const std::vector<std::string>& words) {
  json::array out;
  for (const std::string& w : words) out.emplace_back(w);
  return out;
}

/// A table and the names of the options to show.
struct Shown {
  const TableInfo* table;
  std::vector<const Option*> options;
};

std::vector<Shown> shown_tables(std::string_view filter) {
  std::vector<Shown> out;
  std::vector<std::string> keys; // of single options
  if (find_option(filter)) keys = {std::string(filter)};
  else if (!filter.empty() && !find_table(filter)) keys = keys_named(filter);
  if (keys.empty() && !filter.empty() && !find_option(filter) && !find_table(filter)) keys = keys_about(filter);
  const bool one_option = !keys.empty();
  if (!filter.empty() && !one_option && !find_table(filter))
    throw Refused(filter.find('.') == std::string_view::npos ? unknown_table(filter) : unknown_key(filter));
  const auto add = [&](const TableInfo& t) {
    Shown shown{&t, {}};
    const bool within = filter.empty() || t.table == filter || t.table.starts_with(fmt::format("{}.", filter));
    for (const Option& o : t.options) {
      if (!o.of_tables && (one_option ? std::ranges::count(keys, full_name(t.table, o.name)) > 0 : within))
        shown.options.push_back(&o);
    }
    if (!shown.options.empty() || t.table == filter) out.push_back(std::move(shown));
  };
  // All parameters have the same options, so one description is enough for any of them.
  const auto add_parameters = [&] {
    const TableInfo& t = parameter_table();
    if (const Option* option = parameter_option(filter)) return out.push_back({&t, {option}});
    if (filter != formula_parameters_key && !is_parameter_table(filter)) return add(t);
    out.push_back({&t, {}});
    for (const Option& o : t.options) out.back().options.push_back(&o);
  };
  for (const TableInfo& t : catalogue()) {
    add(t);
    if (t.table == "attention") add_parameters();
  }
  return out;
}

std::string option_text(const Option& o) {
  std::string allowed = type_in_words(o);
  if (const std::string bounds = bounds_in_words(o); !bounds.empty()) allowed += ", " + bounds;
  else if (!o.unit.empty()) allowed += fmt::format(" ({})", o.unit);
  const std::string stands_for = o.default_meaning.empty() ? "" : fmt::format("  ({})", o.default_meaning);
  return fmt::format("{} = {}{}\n    {}\n    {}\n", o.name, value_text(o.default_value), stands_for, o.meaning,
                     allowed);
}

std::string_view type_name(OptionType type) {
  switch (type) {
    case OptionType::boolean: return "boolean";
    case OptionType::integer: return "integer";
    case OptionType::real: return "number";
    case OptionType::text: return "text";
    case OptionType::word_or_number: return "word or number";
    case OptionType::integers: return "integers";
    case OptionType::reals: return "numbers";
    case OptionType::texts: return "texts";
  }
  return "";
}

/// A bound, as an integer or real according to the option's type.
json::value bound(const Option& o, double v) {
  const bool integer = o.type == OptionType::integer || o.type == OptionType::integers;
  return integer ? json::value(static_cast<std::int64_t>(v)) : json::value(v);
}

json::object number_schema(const Option& o, bool integer) {
  json::object out{{"type", integer ? "integer" : "number"}};
  if (o.minimum) out[o.minimum_excluded ? "exclusiveMinimum" : "minimum"] = bound(o, *o.minimum);
  if (o.maximum) out[o.maximum_excluded ? "exclusiveMaximum" : "maximum"] = bound(o, *o.maximum);
  return out;
}

json::object words_schema(const Option& o) {
  json::object out{{"type", "string"}};
  if (!o.words.empty()) out["enum"] = to_json(o.words);
  return out;
}

json::object list_of(json::object items) { return {{"type", "array"}, {"items", std::move(items)}}; }

json::object type_schema(const Option& o) {
  switch (o.type) {
    case OptionType::boolean: return {{"type", "boolean"}};
    case OptionType::integer: return number_schema(o, true);
    case OptionType::real: return number_schema(o, false);
    case OptionType::text:
      if (!o.formula_like.empty()) return {{"type", {"string", "number"}}, {"examples", {o.formula_like}}};
      return words_schema(o);
    case OptionType::word_or_number: return {{"anyOf", {words_schema(o), number_schema(o, false)}}};
    case OptionType::integers: return list_of(number_schema(o, true));
    case OptionType::reals: return list_of(number_schema(o, false));
    case OptionType::texts: return list_of(words_schema(o));
  }
  return {};
}

json::object option_schema(const Option& o) {
  json::object out = type_schema(o);
  std::string description = o.meaning;
  if (!o.unit.empty()) description += fmt::format(" In {}.", o.unit);
  if (!o.default_meaning.empty()) description += fmt::format(" Default: {}.", o.default_meaning);
  out["description"] = description;
  out["default"] = to_json(o.default_value);
  return out;
}

json::object closed_object(json::object properties, std::string_view description) {
  return {{"type", "object"},
          {"description", description},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

/// A table with one subtable per parameter; the user chooses the parameters' names.
json::object parameters_schema(const Option& o) {
  json::object properties;
  for (const Option& field : parameter_table().options) properties[field.name] = option_schema(field);
  return {{"type", "object"},
          {"description", o.meaning},
          {"additionalProperties", closed_object(std::move(properties), parameter_table().title)}};
}

/// A table with its options and the tables of its variants.
json::object table_schema(const TableInfo& table) {
  json::object properties;
  for (const Option& o : table.options) properties[o.name] = o.of_tables ? parameters_schema(o) : option_schema(o);
  const std::string prefix = table.table + ".";
  if (!table.table.empty())
    for (const TableInfo& t : catalogue())
      if (t.table.starts_with(prefix)) properties[t.table.substr(prefix.size())] = table_schema(t);
  return closed_object(std::move(properties), table.title);
}

json::object reference(std::string_view pointer) { return {{"$ref", fmt::format("#/{}", pointer)}}; }

/// The JSON pointer of an option's schema in the whole schema.
std::string option_pointer(std::string_view key) { return "properties/" + replaced(key, {{'.', "/properties/"}}); }

json::object override_schema() {
  json::object properties;
  properties["layers"] = {{"type", "array"},
                          {"description", "The blocks' numbers, counted from 0."},
                          {"items", {{"type", "integer"}, {"minimum", 0}}},
                          {"minItems", 1},
                          {"uniqueItems", true}};
  const auto number = [&](const char* name, int least, const char* meaning) {
    properties[name] = {{"type", "integer"}, {"minimum", least}, {"description", meaning}};
  };
  number("every", 1, "In place of layers: each n-th of the blocks from `from` to `to`. 4: blocks 3, 7, 11, ...");
  number("from", 0, "In place of layers: the first of the blocks that are meant; 0 if it is left out.");
  number("to", 0, "In place of layers: the last of the blocks that are meant; the last one if it is left out.");
  for (const Option& o : find_table("block")->options)
    properties[o.name] = reference(option_pointer("block." + o.name));
  for (const TableInfo& t : catalogue())
    if (t.table.starts_with("block.") && !t.options.empty())
      properties[t.table.substr(6)] = reference(option_pointer(t.table));
  properties["mixer"] = reference("properties/mixer");
  properties["attention"] = reference("properties/attention");
  json::object position = table_schema(*find_table("position"));
  for (const Option& o : find_table("position")->options)
    if (o.of_whole_model) position.at("properties").as_object().erase(o.name);
  properties["position"] = std::move(position);
  for (const std::string& key : all_keys()) // arms write full names
    if (belongs_to_blocks(key) && !key.starts_with("block.") && !find_option(key)->of_tables)
      properties[key] = reference(option_pointer(key));
  properties["stack"] = {{"type", "string"},
                         {"description", "The stack whose blocks are meant, in place of those of the whole model."},
                         {"enum", {"encoder", "decoder"}}};
  json::object one = closed_object(std::move(properties),
                                   "Options of some blocks, in place of those of [block], [mixer], [attention] and "
                                   "[position].");
  one["anyOf"] = {{{"required", {"layers"}}},
                  {{"required", {"every"}}},
                  {{"required", {"from"}}},
                  {{"required", {"to"}}},
                  {{"required", {"stack"}}}};
  return list_of(std::move(one));
}

/// A list of values to try.
json::object values_of(json::object one) { return {{"type", "array"}, {"minItems", 1}, {"items", std::move(one)}}; }

/// Lists of values of a table's options, as nested tables: { attention.score = ["dot"] }.
json::object nested_axes(const std::string& table) {
  json::object properties;
  for (const Option& o : find_table(table)->options)
    if (const std::string key = full_name(table, o.name); not_for_arms(key).empty())
      properties[o.name] = o.of_tables ? json::object{{"type", "object"}} : values_of(reference(option_pointer(key)));
  for (const TableInfo& t : catalogue())
    if (t.table.starts_with(table + ".") && !t.options.empty())
      properties[t.table.substr(table.size() + 1)] = nested_axes(t.table);
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

/// A table of changes: options by full name, each with one value or with a list of values to try.
json::object changes_schema(bool lists, std::string_view description) {
  const auto value = [&](json::object one) { return lists ? values_of(std::move(one)) : std::move(one); };
  constexpr std::string_view one_block = R"(^block\[((encoder|decoder)\.)?[0-9]+\])";
  json::object properties, single_blocks{{std::string(one_block) + "$", {{"type", "object"}}}};
  for (const std::string& key : all_keys()) {
    if (!not_for_arms(key).empty() || find_option(key)->of_tables) continue;
    properties[key] = value(reference(option_pointer(key)));
    if (belongs_to_blocks(key))
      single_blocks[fmt::format(R"({}\.{}$)", one_block, replaced(name_in_block(key), {{'.', R"(\.)"}}))] =
          value(reference(option_pointer(key)));
  }
  for (const Section& s : sections())
    if (!s.table.empty())
      properties[s.table] = lists ? nested_axes(s.table) : reference("properties/" + std::string(s.table));
  json::object overrides = reference(option_pointer(override_key));
  properties[override_key] = lists ? list_of(std::move(overrides)) : std::move(overrides);
  json::object out = closed_object(std::move(properties), description);
  single_blocks[fmt::format("^{}\\..+\\.", formula_parameters_key)] = json::object();
  out["patternProperties"] = std::move(single_blocks);
  return out;
}

/// A list of seeds, or their number.
json::object seeds_schema() {
  json::object count{{"type", "integer"}, {"minimum", 1}};
  json::object list = list_of({{"type", "integer"}, {"minimum", 0}});
  list["minItems"] = 1;
  list["uniqueItems"] = true;
  return {{"anyOf", {std::move(count), std::move(list)}}};
}

/// The allowed values of the option that contains a kind's changes.
json::object held_schema(SweepForm form) {
  const json::object sets{{"type", "object"}, {"additionalProperties", reference("$defs/changes")}};
  switch (form) {
    case SweepForm::crossed:
    case SweepForm::paired: return reference("$defs/axes");
    case SweepForm::sets: return sets;
    case SweepForm::arms: return {{"anyOf", {sets, list_of(reference("$defs/changes"))}}};
    case SweepForm::draws: break;
  }
  json::object distribution{
      {"type", "object"}, {"minProperties", 1}, {"maxProperties", 1}, {"additionalProperties", false}};
  json::object& shapes = distribution["properties"].emplace_object();
  for (const Distribution& d : distributions())
    shapes[d.name] = {{"type", "array"}, {"minItems", 1}, {"description", d.takes}};
  return {{"type", "object"}, {"additionalProperties", std::move(distribution)}};
}

/// A table of the sweep: the schemas of its options, each with its meaning.
json::object described(std::string_view table, json::object properties) {
  for (const SweepTable& t : sweep_tables()) {
    if (t.table != table) continue;
    for (const SweepOption& option : t.options)
      properties.at(option.name).as_object()["description"] = fmt::format("{} {}", option.meaning, option.takes);
    return closed_object(std::move(properties), t.title);
  }
  return properties;
}

json::object vary_schema() {
  json::array names;
  for (const ChanceSource& source : chance_sources()) names.emplace_back(source.name);
  json::object out = list_of({{"type", "string"}, {"enum", std::move(names)}});
  out["uniqueItems"] = true;
  return out;
}

json::object sweep_schema() {
  json::object block;
  json::array kinds;
  for (const SweepKind& kind : sweep_kinds()) {
    kinds.emplace_back(kind.name);
    block[kind.holder] = held_schema(kind.form);
  }
  block["kind"] = {{"type", "string"}, {"enum", std::move(kinds)}};
  block["count"] = {{"type", "integer"}, {"minimum", 1}};
  block["seed"] = {{"type", "integer"}, {"minimum", 0}};
  for (const char* conditions : {"exclude", "require"}) block[conditions] = list_of(reference("$defs/changes"));
  const json::object name{{"type", "string"}};
  return described("sweep",
                   {{"seeds", seeds_schema()},
                    {"looks", list_of({{"type", "integer"}, {"minimum", 2}})},
                    {"match", {{"type", "string"}, {"enum", {"none", "parameters", "flops", "state"}}}},
                    {"reference", name},
                    {"within", {{"anyOf", {name, list_of(name)}}}},
                    {"vary", vary_schema()},
                    {"vary_values", {{"type", "integer"}, {"minimum", 2}, {"maximum", 1000}}},
                    {"vary_fixings", {{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}}},
                    {"tune", described("sweep.tune", {{"grid", reference("$defs/axes")}, {"seeds", seeds_schema()}})},
                    {"block", list_of(described("sweep.block", std::move(block)))}});
}

json::object labels_schema() {
  return {{"type", "object"},
          {"description", sweep_tables("report.label").front().title},
          {"additionalProperties", {{"type", "string"}, {"minLength", 1}}}};
}

json::object extends_schema() {
  const json::object file{{"type", "string"}};
  return {{"description", "Files on which this file is based. Relative paths start at the folder of this file. Later "
                          "files override earlier ones."},
          {"anyOf", {file, list_of(file)}}};
}

std::string indented(const std::string& lines) { return "        " + replaced(lines, {{'\n', "\n        "}}) + "\n"; }

std::string sweep_text(std::string_view filter) {
  std::string out;
  for (const SweepTable& table : sweep_tables(filter)) {
    out += fmt::format("{}{}  {}\n", out.empty() ? "" : "\n", table.heading, table.title);
    for (const SweepOption& option : table.options)
      out += fmt::format("\n{}\n    {}\n    {}; such as\n{}", option.name, option.meaning, option.takes,
                         indented(option.example));
  }
  return out;
}

json::array sweep_json(std::string_view filter) {
  json::array out;
  for (const SweepTable& table : sweep_tables(filter)) {
    json::array options;
    for (const SweepOption& option : table.options)
      options.push_back({{"name", option.name},
                         {"key", full_name(table.table, option.name)},
                         {"meaning", option.meaning},
                         {"takes", option.takes},
                         {"example", option.example}});
    out.push_back({{"table", table.table}, {"title", table.title}, {"options", std::move(options)}});
  }
  return out;
}

} // namespace

std::string options_text(std::string_view filter) {
  if (names_sweep(filter)) return sweep_text(filter);
  std::string out;
  for (const Shown& shown : shown_tables(filter)) {
    const std::string heading = shown.table->table.empty() ? "top level" : table_in_words(shown.table->table);
    out += fmt::format("{}{}  {}\n", out.empty() ? "" : "\n", heading, shown.table->title);
    if (shown.options.empty()) out += "\nno options of its own\n";
    for (const Option* o : shown.options) out += "\n" + option_text(*o);
  }
  if (filter == "report") return out + "\n" + sweep_text("report.label");
  return filter.empty() ? out + "\n" + sweep_text(filter) : out;
}

std::string options_json(std::string_view filter) {
  if (names_sweep(filter)) return json::serialize(sweep_json(filter));
  json::array out;
  for (const Shown& shown : shown_tables(filter)) {
    json::array options;
    for (const Option* o : shown.options) {
      json::object entry{{"name", o->name},
                         {"key", full_name(shown.table->table, o->name)},
                         {"meaning", o->meaning},
                         {"type", type_name(o->type)},
                         {"default", to_json(o->default_value)}};
      if (!o->default_meaning.empty()) entry["default_means"] = o->default_meaning;
      if (!o->unit.empty()) entry["unit"] = o->unit;
      if (o->minimum) entry[o->minimum_excluded ? "above" : "minimum"] = *o->minimum;
      if (o->maximum) entry[o->maximum_excluded ? "below" : "maximum"] = *o->maximum;
      if (!o->words.empty()) entry["words"] = to_json(o->words);
      entry["changes_results"] = o->changes_results;
      options.push_back(std::move(entry));
    }
    out.push_back({{"table", shown.table->table}, {"title", shown.table->title}, {"options", std::move(options)}});
  }
  return json::serialize(out);
}

std::string json_schema() {
  json::object top = table_schema(*find_table(""));
  json::object& properties = top["properties"].as_object();
  properties["extends"] = extends_schema();
  for (const Section& s : sections())
    if (!s.table.empty()) properties[s.table] = table_schema(*find_table(s.table));
  properties["block"].as_object()["properties"].as_object()["override"] = override_schema();
  properties["report"].as_object()["properties"].as_object()["label"] = labels_schema();
  properties["sweep"] = sweep_schema();

  json::object out{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Heed experiment"}};
  for (auto& [key, value] : top) out[key] = value;
  out["$defs"] = {{"changes", changes_schema(false, "Options by full name, with their values.")},
                  {"axes", changes_schema(true, "Options by full name, each with the values to try.")}};
  return json::serialize(out);
}

} // namespace heed
