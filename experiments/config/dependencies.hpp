// Which options do something only under certain choices of other options. All of it is data: rows of a table, and the
// records of variants, which say what they silence, need and use. A variant's own options count where it is chosen.
#pragma once

#include "experiments/config/catalogue.hpp"
#include "options/variant.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// `option` does something only where the value of `on` (a choice among words, or true or false) is one of `words`; or,
/// if `unless`, is none of them. An `on` that does nothing itself is none of any words.
struct Dependency {
  static constexpr const char* anything = OptionCondition::anything;

  std::string option;
  std::string on;
  std::vector<std::string> words;
  bool unless = false;
  /// Or where one of these holds, each read in the same way.
  struct Alternative {
    std::string on;
    std::vector<std::string> words;
    bool unless = false;
    bool for_identity = false; ///< it does nothing there, but identities have it: no message says it
  };
  std::vector<Alternative> others = {};
};

const std::vector<Dependency>& dependencies();

/// Whether versions before accepted an option, and counted it in identities, where it does nothing.
bool was_accepted(std::string_view key);

/// The value of an option, by its place.
using ValueOf = std::function<const Value&(std::size_t option)>;

/// The first dependency of an option that the values do not meet, or null where the option does something.
const Dependency* unmet_dependency(std::size_t option, const ValueOf& value_of);
const Dependency* unmet_dependency(std::string_view key, const ValueOf& value_of);

/// A text that is not empty, or a number that is not 0; true for values of other types.
bool is_given(const Value& value);

/// The word that a choice is: a text itself, a word where a number might be, or "true" or "false"; empty for values
/// of other types.
std::string choice_word(const Value& value);

/// "attention.cosine.temperature matters only where attention.score is 'cosine'", without the option's name.
std::string dependency_in_words(const Dependency& dependency);

} // namespace heed
