#include "experiments/config/catalogue.hpp"

#include "experiments/config/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace heed {
namespace {

template <class T>
Section section(std::string table, std::string title, const OptionTable<T>& options, T Config::*member) {
  Section s{std::move(table), std::move(title), options.options(), {}, {}, {}, {}};
  s.set = [&options, member](Config& c, const std::vector<Value>& v) { c.*member = options.read_all(v); };
  s.get = [&options, member](const Config& c) { return options.write_all(c.*member); };
  return s;
}

template <class T>
Section block_section(std::string table, std::string title, const OptionTable<T>& options, T LayerChoice::*member) {
  Section s{std::move(table), std::move(title), options.options(), {}, {}, {}, {}};
  for (Option& option : s.options) option.of_blocks = true;
  s.set_layer = [&options, member](LayerChoice& c, const std::vector<Value>& v) { c.*member = options.read_all(v); };
  s.get_layer = [&options, member](const LayerChoice& c) { return options.write_all(c.*member); };
  return s;
}

/// [attention]: its own options, and those of the parts of attention.
Section attention_section() {
  const OptionTable<AttentionOptions>& own = attention_option_table();
  std::vector<Option> of_parts;
  for (const Variant* part : attention_parts())
    of_parts.insert(of_parts.end(), part->options.begin(), part->options.end());
  for (Option& option : of_parts) option.of_blocks = true;
  std::vector<Option> options = own.options();
  options.insert(std::ranges::find(options, "score_mod", &Option::name), of_parts.begin(), of_parts.end());
  Section s{"attention", "Attention", std::move(options), {}, {}, {}, {}};
  std::vector<bool> is_own;
  for (const Option& option : s.options)
    is_own.push_back(std::ranges::find(own.options(), option.name, &Option::name) != own.options().end());
  s.set_layer = [is_own, &own, all = s.options](LayerChoice& choice, const std::vector<Value>& values) {
    std::vector<Value> of_struct;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (is_own[i]) of_struct.push_back(values.at(i));
      else choice.part_options[all[i].name] = values.at(i);
    choice.attention = own.read_all(of_struct);
  };
  s.get_layer = [is_own, &own, all = s.options](const LayerChoice& choice) {
    const OptionValues of_struct = own.write(choice.attention);
    std::vector<Value> values;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const OptionValues& from = is_own[i] ? of_struct : choice.part_options;
      const auto found = from.find(all[i].name);
      values.push_back(found == from.end() ? all[i].default_value : found->second);
    }
    return values;
  };
  return s;
}

/// The member that stores the options of each family's chosen variant.
struct Place {
  std::string_view key;
  OptionValues Config::*options;
  OptionValues LayerChoice::*layer_options;
};
constexpr Place places[] = {
    {"task.kind", &Config::task_options, nullptr},
    {"model.kind", &Config::model_options, nullptr},
    {"recurrent.cell", &Config::recurrent_options, nullptr},
    {"recurrent.attention", &Config::recurrent_attention_options, nullptr},
    {"position.kind", nullptr, &LayerChoice::position_options},
    {"attention.score", nullptr, &LayerChoice::score_options},
    {"attention.normalizer", nullptr, &LayerChoice::normalizer_options},
    {"attention.projection", nullptr, &LayerChoice::projection_options},
    {"mixer.kind", nullptr, &LayerChoice::mixer_options},
    {"mixer.feature", nullptr, &LayerChoice::feature_options},
    {"mixer.decay", nullptr, &LayerChoice::decay_options},
    {"block.norm_kind", nullptr, &LayerChoice::norm_options},
    {"block.activation", nullptr, &LayerChoice::feed_forward_options},
    {"train.optimizer", &Config::optimizer_options, nullptr},
    {"train.schedule", &Config::schedule_options, nullptr},
};

std::vector<FamilyPlace> make_family_places() {
  std::vector<FamilyPlace> out;
  for (VariantFamily& family : variant_families()) {
    const std::string key = full_name(family.table, family.key);
    const Place* found = nullptr;
    for (const Place& place : places)
      if (place.key == key) found = &place;
    if (!found) throw std::logic_error(fmt::format("no place in Config for the options of {}", key));
    out.push_back({std::move(family), key, found->options, found->layer_options});
  }
  return out;
}

/// The option for which another module registers words.
Option& registered_option(std::vector<Section>& sections, const std::string& key) {
  for (Section& s : sections)
    for (Option& o : s.options)
      if (key == full_name(s.table, o.name)) return o;
  throw std::logic_error(fmt::format("words are registered for {}, which is no option", key));
}

std::vector<Section> make_sections() {
  std::vector<Section> out;
  out.push_back(section("", "The experiment", general_option_table(), &Config::general));
  out.push_back(section("data", "Data from files", data_option_table(), &Config::data));
  out.push_back(section("task", "Task", task_option_table(), &Config::task));
  out.push_back(section("model", "Model", model_option_table(), &Config::model));
  out.push_back(section("init", "Initial weights", init_option_table(), &Config::init));
  out.push_back(section("recurrent", "Recurrent layers", recurrent_option_table(), &Config::recurrent));
  out.push_back(block_section("position", "Positions", position_option_table(), &LayerChoice::position));
  out.push_back(block_section("mixer", "Sequence mixer", mixer_option_table(), &LayerChoice::mixer));
  out.push_back(attention_section());
  out.push_back(block_section("block", "Transformer block", block_option_table(), &LayerChoice::block));
  out.push_back(section("train", "Training", train_option_table(), &Config::train));
  out.push_back(section("engine", "Engine", engine_option_table(), &Config::engine));
  out.push_back(section("report", "Report", report_option_table(), &Config::report));
  // A choice may have any registered name.
  for (Section& s : out)
    for (Option& o : s.options)
      for (const FamilyPlace& place : family_places())
        if (place.key == full_name(s.table, o.name) || place.key == o.variants_of)
          for (const Variant* v : place.family.variants) o.words.push_back(v->name);
  Registry all = registry();
  for (RegisteredWords& registered : all.words)
    registered_option(out, registered.key).words = std::move(registered.words);
  return out;
}

std::vector<TableInfo> make_catalogue() {
  std::vector<TableInfo> out;
  for (const Section& s : sections()) {
    out.push_back({s.table, s.title, s.options, nullptr});
    for (const FamilyPlace& place : family_places())
      if (place.family.table == s.table)
        for (const Variant* v : place.family.variants)
          out.push_back({full_name(s.table, v->name), v->summary, v->options, v});
  }
  return out;
}

/// Finds options and tables by name. Reports errors in the records of variants: a name with two meanings, or an option
/// that does not exist.
struct Index {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  template <class T> using ByName = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  ByName<const Option*> options;
  ByName<const TableInfo*> tables;
  ByName<std::size_t> places, first; ///< of options, and of the first option of each table
  std::vector<std::string> keys;

  Index() {
    for (const TableInfo& t : catalogue()) {
      if (!tables.emplace(t.table, &t).second)
        throw std::logic_error(fmt::format("two variants have the table [{}]", t.table));
      first.emplace(t.table, keys.size());
      // In a file, what follows an option that is made of tables would be in the last of them.
      if (const auto made = std::ranges::find(t.options, true, &Option::of_tables);
          made != t.options.end() && made + 1 != t.options.end())
        throw std::logic_error(fmt::format("[{}] {} is made of tables, so it must be the last", t.table, made->name));
      for (const Option& o : t.options) {
        keys.push_back(full_name(t.table, o.name));
        places.emplace(keys.back(), keys.size() - 1);
        if (!options.emplace(keys.back(), &o).second)
          throw std::logic_error(fmt::format("two options have the name {}", keys.back()));
      }
    }
    for (const std::string& key : keys)
      if (tables.contains(key)) throw std::logic_error(fmt::format("{} is an option and a variant's table", key));
    for (const FamilyPlace& place : family_places())
      if (!find_variant(place.family, options.at(place.key)->default_value))
        throw std::logic_error(fmt::format("the default of {} is not registered", place.key));
    for (const FamilyPlace& place : family_places())
      for (const Variant* v : place.family.variants)
        for (const auto& [key, value] : v->presets) {
          auto found = options.find(key);
          if (found == options.end() || found->second->default_value.index() != value.index())
            throw std::logic_error(fmt::format("{} {} presets {}, which is not an option of that type",
                                               place.family.title, v->name, key));
        }
    for (const FamilyPlace& place : family_places())
      for (const Variant* v : place.family.variants) check_names(place.family.title, *v);
    for (const Variant* part : attention_parts()) check_names("part of attention", *part);
  }

private:
  void check_names(const std::string& title, const Variant& v) const {
    for (const std::string& name : named_by(v))
      if (!options.contains(name) && !is_table(name))
        throw std::logic_error(fmt::format("{} {} speaks of {}, which is no option and no table", title, v.name, name));
  }
  /// The options and tables that a variant's record names.
  static std::vector<std::string> named_by(const Variant& v) {
    std::vector<std::string> out = v.disables;
    out.insert(out.end(), v.needs.begin(), v.needs.end());
    out.insert(out.end(), v.uses.begin(), v.uses.end());
    for (const OptionCondition& c : v.conditions) {
      out.insert(out.end(), {c.option, c.on});
      for (const OptionCondition& other : c.others) out.push_back(other.on);
    }
    return out;
  }
  bool is_table(const std::string& name) const { return tables.contains(name); }
};

const Index& index() {
  static const Index built;
  return built;
}

} // namespace

std::vector<VariantFamily> variant_families() { return registry().families; }

const std::vector<const Variant*>& attention_parts() {
  static const std::vector<const Variant*> all = registry().parts;
  return all;
}

std::vector<std::string> disabled_by(std::string_view family_key, const Variant& variant) {
  std::vector<std::string> out = variant.disables;
  if (family_key != "model.kind" || !stacks_of(variant.name).empty()) return out;
  for (const TableInfo& table : catalogue())
    if (std::ranges::all_of(table.options, &Option::of_blocks) && !table.options.empty()) out.push_back(table.table);
    else
      for (const Option& option : table.options)
        if (option.of_blocks) out.push_back(full_name(table.table, option.name));
  return out;
}

const std::vector<FamilyPlace>& family_places() {
  static const std::vector<FamilyPlace> built = make_family_places();
  return built;
}

const std::vector<Section>& sections() {
  static const std::vector<Section> built = make_sections();
  return built;
}

const std::vector<TableInfo>& catalogue() {
  static const std::vector<TableInfo> built = make_catalogue();
  return built;
}

const Option* find_option(std::string_view key) {
  auto found = index().options.find(key);
  return found == index().options.end() ? parameter_option(key) : found->second;
}

const TableInfo* find_table(std::string_view table) {
  auto found = index().tables.find(table);
  if (found == index().tables.end()) return is_parameter_table(table) ? &parameter_table() : nullptr;
  return found->second;
}

const Variant* find_variant(const VariantFamily& family, const Value& name) {
  const auto* text = std::get_if<std::string>(&name);
  for (const Variant* v : family.variants)
    if (text && v->name == *text) return v;
  return nullptr;
}

std::string full_name(std::string_view table, std::string_view option) {
  std::string out(table);
  if (!table.empty()) out += '.';
  return out.append(option);
}

std::string table_in_words(std::string_view table) {
  return table.empty() ? "the top level" : fmt::format("[{}]", table);
}

bool belongs_to_blocks(std::string_view key) {
  const std::string_view top = key.substr(0, key.find('.'));
  for (const Section& s : sections())
    if (s.table == top) {
      const Option* option = s.set_layer ? find_option(key) : nullptr;
      return s.set_layer && !(option && option->of_whole_model);
    }
  return false;
}

const std::vector<std::string>& stacks_of(const std::string& model_kind) {
  static const std::map<std::string, std::vector<std::string>> all = registry().stacks;
  return all.at(model_kind);
}

std::vector<std::string> positions_of_blocks() {
  std::vector<std::string> out;
  for (const FamilyPlace& place : family_places())
    for (const Variant* v : place.family.variants)
      if (place.key == "position.kind" && std::ranges::count(v->disables, "position.combine") > 0)
        out.push_back(v->name);
  return out;
}

const std::vector<std::string>& all_keys() { return index().keys; }

std::size_t option_index(std::string_view key) {
  const auto found = index().places.find(key);
  if (found == index().places.end()) throw std::out_of_range(fmt::format("{} is no option", key));
  return found->second;
}

std::size_t first_option(std::string_view table) {
  const auto found = index().first.find(table);
  if (found == index().first.end()) throw std::out_of_range(fmt::format("[{}] is no table", table));
  return found->second;
}

} // namespace heed
