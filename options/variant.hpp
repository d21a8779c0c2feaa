// What every interchangeable part (a score, a normaliser, a position, a task, a model, ...) says of itself.
#pragma once

#include "options/options.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// An option that does something only under another choice: where the value of `on` is one of `words`, or, if `unless`,
/// none of them.
struct OptionCondition {
  /// Alone among `words`: any text but the empty one, or any number but 0, of an option that takes more than words.
  static constexpr const char* anything = "*";

  std::string option; ///< by full name; a table's name stands for all in it
  std::string on;
  std::vector<std::string> words;
  bool unless = false;
  bool operator==(const OptionCondition&) const = default;
};

/// The info record of a variant. It stands in the variant's own file, and is all that the configuration,
/// `heed variants`, the tests and the documentation know of it.
struct Variant {
  std::string name;            ///< the word that a configuration uses
  std::string summary;         ///< one line, with the formula
  std::string paper;           ///< authors, year and arXiv number, or where it comes from; empty for common knowledge
  std::string equals;          ///< what it equals and when: an oracle for tests ("dot, with scale = 1")
  std::string cost;            ///< parameters and operations
  std::vector<Option> options; ///< the keys of its own table
  /// Defaults that it changes elsewhere, by full name: an encoder sets {"attention.causal", false}.
  std::vector<std::pair<std::string, Value>> presets;
  /// Options elsewhere, by full name, that do nothing where it is chosen; a table's name stands for all in it.
  std::vector<std::string> silences = {};
  /// Options elsewhere, likewise, that do something only where a variant is chosen that says so: those that it can't go
  /// without (`needs`: they must be given), and the others.
  std::vector<std::string> needs = {}, uses = {};
  /// Where it is chosen, these do something under another choice only.
  std::vector<OptionCondition> conditions = {};

  ~Variant(); // compiled once
};

/// What the entries of a family's table say of themselves.
template <class Info> std::vector<const Variant*> variants_of(std::span<const Info* const> table) {
  std::vector<const Variant*> out;
  for (const Info* info : table) out.push_back(&info->about);
  return out;
}

/// "dot, scaled_dot, additive"
std::string names_of(const std::vector<const Variant*>& variants);

/// The entry of that name in a family's table; null where there is none.
template <class Info> const Info* find_variant(std::span<const Info* const> table, std::string_view name) {
  for (const Info* info : table)
    if (info->about.name == name) return info;
  return nullptr;
}

[[noreturn]] void fail_unknown_variant(std::string_view what, std::string_view name,
                                       const std::vector<const Variant*>& variants);

/// The same, which must be there: heed::Failed with `what` ("[attention] there is no score"), the name and all names
/// otherwise.
template <class Info>
const Info& variant_named(std::span<const Info* const> table, std::string_view name, std::string_view what) {
  if (const Info* info = find_variant(table, name)) return *info;
  fail_unknown_variant(what, name, variants_of(table));
}

/// A family of variants, and the option that chooses among them: option `key` of table `table` holds a variant's
/// name, whose own options then stand in the table `table.NAME`.
struct VariantFamily {
  std::string title; ///< "score function"
  std::string table; ///< "attention"
  std::string key;   ///< "score"
  std::vector<const Variant*> variants;
};

} // namespace heed
