// The info records of interchangeable parts (scores, normalisers, positions, tasks, models, ...), and functions that
// find a variant by name.
#pragma once

#include "options/options.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// A combination of choices that no model can have.
struct Exclusion {
  std::vector<OptionCondition> where; ///< all of them hold; their `option` is empty
  std::string why;                    ///< a sentence: why, and what to choose instead
  /// The attention that has these choices. Choices that are not of attention count as those of self attention; other
  /// attention is that over an encoder output, in pooling or of a recurrent decoder.
  enum class Of { self_attention, other_attention, every_attention } of = Of::self_attention;
};

/// The info record of a variant. It is in the variant's own file. The configuration, `heed variants`, the tests and the
/// documentation use only this record.
struct Variant {
  std::string name;       ///< the word in a configuration
  std::string summary;    ///< one line, with the formula
  std::string paper = {}; ///< authors, year and arXiv number, or another source; empty for common knowledge
  std::string equals =
      {}; ///< another variant that it equals, and when; tests use it as an oracle ("dot, with scale = 1")
  std::string cost = {}; ///< number of parameters and operations
  /// How often results with this variant changed since `numerics_version` (experiments/config/config.hpp) last
  /// increased. It is part of the ID of runs that use the variant.
  int numerics = 0;
  std::vector<Option> options = {}; ///< the keys of the variant's own table
  /// Defaults of other options that the variant changes, by full name: an encoder sets {"attention.causal", false}.
  std::vector<std::pair<std::string, Value>> presets = {};
  /// Other options, by full name, that have no effect with this variant. A table's name means all options in the table.
  std::vector<std::string> disables = {};
  /// Other options, named likewise, that only have an effect with variants that list them. `needs`: options that must
  /// be given; `uses`: optional ones.
  std::vector<std::string> needs = {}, uses = {};
  /// With this variant, these options only have an effect under a further condition.
  std::vector<OptionCondition> conditions = {};
  /// With what a layer's variant, or a part of attention, can't be combined.
  std::vector<Exclusion> excludes = {};

  ~Variant(); // defined once, in variant.cpp
};

/// The info records of a family's table.
template <class Info> std::vector<const Variant*> variants_of(std::span<const Info* const> table) {
  std::vector<const Variant*> out;
  for (const Info* info : table) out.push_back(&info->about);
  return out;
}

/// "dot, scaled_dot, additive"
std::string names_of(const std::vector<const Variant*>& variants);

/// The entry with this name in a family's table; null if there is none.
template <class Info> const Info* find_variant(std::span<const Info* const> table, std::string_view name) {
  for (const Info* info : table)
    if (info->about.name == name) return info;
  return nullptr;
}

[[noreturn]] void fail_unknown_variant(std::string_view what, std::string_view name,
                                       const std::vector<const Variant*>& variants);

/// The entry with this name. Throws heed::Failed with `what` ("[attention] there is no score"), the name and all names
/// if there is none.
template <class Info>
const Info& variant_named(std::span<const Info* const> table, std::string_view name, std::string_view what) {
  if (const Info* info = find_variant(table, name)) return *info;
  fail_unknown_variant(what, name, variants_of(table));
}

/// A family of variants, and the option that selects one: option `key` of table `table` holds a variant's name. The
/// variant's own options are in the table `table.NAME`.
struct VariantFamily {
  std::string title; ///< "score function"
  std::string table; ///< "attention"
  std::string key;   ///< "score"
  std::vector<const Variant*> variants;
};

} // namespace heed
