// Which options only have an effect under certain values of other options. The dependencies are data: the conditions in
// the option tables, and the records of the variants, which list the options that they disable, need and use. The
// options of a variant only have an effect if the variant is chosen.
#include "experiments/config/catalogue.hpp"

#include "experiments/config/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heed {
namespace {

constexpr const char* anything = OptionCondition::anything;

/// Adds the row. If it names a table, adds one row for each option in the table and in the tables of its variants.
void add_expanded(std::vector<OptionCondition>& out, const OptionCondition& row) {
  if (find_option(row.option)) {
    out.push_back(row);
    return;
  }
  for (const std::string& key : all_keys())
    if (key.starts_with(row.option + ".")) out.push_back({key, row.on, row.words, row.unless, row.others});
}

using Names = std::vector<std::string>;

/// Adds the dependencies from the records of a family's variants: the options that variants disable, need or use.
/// Variants that need an option come first.
void add_disables_and_uses(std::vector<OptionCondition>& out, const FamilyPlace& place) {
  std::map<std::string, Names> silent, used;
  for (const Variant* v : place.family.variants)
    for (const std::string& option : disabled_by(place.key, *v)) silent[option].push_back(v->name);
  for (const auto list : {&Variant::needs, &Variant::uses})
    for (const Variant* v : place.family.variants)
      for (const std::string& option : v->*list) used[option].push_back(v->name);
  for (const auto& [option, names] : silent) add_expanded(out, {option, place.key, names, true});
  for (const auto& [option, names] : used) add_expanded(out, {option, place.key, names});
}

/// Adds each condition of a family's variants once. If the option does not belong to the variant, the condition is also
/// met under every other variant. No alternative is needed for this if an `unless` condition depends on the variant's
/// own option, because that option has no effect under other variants.
void add_conditions(std::vector<OptionCondition>& out, const FamilyPlace& place) {
  std::vector<std::pair<OptionCondition, Names>> conditions;
  for (const Variant* v : place.family.variants)
    for (const OptionCondition& c : v->conditions) {
      const auto same = std::find_if(conditions.begin(), conditions.end(), [&](const auto& x) { return x.first == c; });
      if (same == conditions.end()) conditions.push_back({c, {v->name}});
      else same->second.push_back(v->name);
    }
  for (const auto& [c, names] : conditions) {
    const std::string own = full_name(place.family.table, names.front()) + ".";
    OptionCondition row = c;
    const bool met_without = c.on.starts_with(own) && c.unless;
    if (!c.option.starts_with(own) && !met_without) row.others.push_back({"", place.key, names, true});
    add_expanded(out, row);
  }
}

/// Adds the options that are only where learned numbers start: they have no effect if a finished run gives all weights.
void add_initial_values(std::vector<OptionCondition>& out) {
  for (const TableInfo& table : catalogue())
    for (const Option& o : table.options) {
      if (!o.initial) continue;
      OptionCondition row{
          full_name(table.table, o.name), "train.start", {anything}, true, {{"", "train.start_weights", {"matching"}}}};
      if (!o.initial_if.empty()) row.others.push_back({"", full_name(table.table, o.initial_if), {"true"}, true});
      out.push_back(std::move(row));
    }
}

/// Messages show the first unmet dependency of an option, so the order matters.
std::vector<OptionCondition> make_dependencies() {
  std::vector<OptionCondition> out;
  for (const FamilyPlace& place : family_places()) add_disables_and_uses(out, place);
  for (const FamilyPlace& place : family_places()) add_conditions(out, place);
  for (const Variant* part : attention_parts())
    for (const OptionCondition& c : part->conditions) add_expanded(out, c);
  for (const TableInfo& table : catalogue())
    for (const Option& o : table.options)
      for (OptionCondition row : o.conditions) {
        row.option = full_name(table.table, o.name);
        out.push_back(std::move(row));
      }
  for (const FamilyPlace& place : family_places())
    for (const Variant* v : place.family.variants)
      for (const Option& o : v->options)
        out.push_back({full_name(full_name(place.family.table, v->name), o.name), place.key, {v->name}});
  add_initial_values(out);
  return out;
}

/// A dependency or one of its alternatives, with the index of the option on which it depends.
struct Choice {
  std::size_t on;
  const std::vector<std::string>& words;
  bool unless;
};

/// A dependency in the form in which it is evaluated: it is met if one of the choices holds.
struct Row {
  const OptionCondition* condition;
  std::vector<Choice> choices;
};

/// The rows of each option, in order.
const OfOptions<std::vector<Row>>& by_option() {
  static const OfOptions<std::vector<Row>> built = [] {
    OfOptions<std::vector<Row>> out;
    for (const OptionCondition& d : dependencies()) {
      Row row{&d, {{option_index(d.on), d.words, d.unless}}};
      for (const OptionCondition& a : d.others) row.choices.push_back({option_index(a.on), a.words, a.unless});
      out.at(d.option).push_back(std::move(row));
    }
    return out;
  }();
  return built;
}

bool holds(const Choice& choice, const ValueOf& value_of) {
  const auto listed = [&] {
    // If the option itself has no effect, its value counts as none of the words.
    if (unmet_dependency(choice.on, value_of)) return false;
    return is_listed(choice.words, value_of(choice.on));
  };
  return listed() != choice.unless;
}

} // namespace

const std::vector<OptionCondition>& dependencies() {
  static const std::vector<OptionCondition> built = make_dependencies();
  return built;
}

const OptionCondition* unmet_dependency(std::size_t option, const ValueOf& value_of) {
  for (const Row& row : by_option()[option])
    if (std::ranges::none_of(row.choices, [&](const Choice& c) { return holds(c, value_of); })) return row.condition;
  return nullptr;
}

const OptionCondition* unmet_dependency(std::string_view key, const ValueOf& value_of) {
  return unmet_dependency(option_index(key), value_of);
}

std::string condition_in_words(const OptionCondition& condition) {
  const auto in_words = [](const OptionCondition& choice) {
    if (choice.words.front() == OptionCondition::anything)
      return fmt::format("{} is {}given", choice.on, choice.unless ? "not " : "");
    // Of a few words and all others, the few are named.
    Names words = choice.words, others;
    if (const Option* option = find_option(choice.on); option && choice.unless)
      for (const std::string& word : option->words)
        if (std::ranges::find(words, word) == words.end()) others.push_back(word);
    const bool names_others = !others.empty() && others.size() < words.size();
    if (names_others) words = others;
    return fmt::format("{} is {}{}{}", choice.on, choice.unless && !names_others ? "not " : "",
                       words.size() == 1 ? "" : "one of ", list_in_words(words));
  };
  std::string out = in_words(condition);
  for (const OptionCondition& other : condition.others) out += ", or " + in_words(other);
  return out;
}

std::string dependency_in_words(const OptionCondition& d) { return "matters only where " + condition_in_words(d); }

} // namespace heed
