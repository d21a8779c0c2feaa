// What every interchangeable part (a score, a normaliser, a position, a task, a model, ...) says of itself.
#pragma once

#include "options/options.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heed {

/// The info record of a variant. It stands in the variant's own file, and is all that the configuration,
/// `heed variants`, the tests and the documentation know of it.
struct Variant {
  std::string name;     ///< the word that a configuration uses
  std::string summary;  ///< one line, with the formula
  std::string paper;    ///< authors, year and arXiv number, or where it comes from; empty for common knowledge
  std::string equals;   ///< what it equals and when: an oracle for tests ("dot, with scale = 1")
  std::string cost;     ///< parameters and operations
  std::vector<Option> options;  ///< the keys of its own table
  /// Defaults that it changes elsewhere, by full name: an encoder sets {"attention.causal", false}.
  std::vector<std::pair<std::string, Value>> presets;
  /// Options elsewhere, by full name, that do nothing where it is chosen; a table's name stands for all in it.
  std::vector<std::string> silences = {};
};

/// A family of variants, and the option that chooses among them: option `key` of table `table` holds a variant's
/// name, whose own options then stand in the table `table.NAME`.
struct VariantFamily {
  std::string title;    ///< "score function"
  std::string table;    ///< "attention"
  std::string key;      ///< "score"
  std::vector<const Variant*> variants;
};

} // namespace heed
