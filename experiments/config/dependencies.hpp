// Which options only have an effect under certain values of other options. The dependencies are data: the conditions in
// the option tables, and the records of the variants, which list the options that they disable, need and use. The
// options of a variant only have an effect if the variant is chosen.
#pragma once

#include "experiments/config/catalogue.hpp"
#include "options/variant.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// All dependencies. If the option on which one depends has no effect itself, its value counts as none of the words.
const std::vector<OptionCondition>& dependencies();

/// Returns the value of an option, given by its index.
using ValueOf = std::function<const Value&(std::size_t option)>;

/// The first dependency of an option that the values do not meet; null if the option has an effect.
const OptionCondition* unmet_dependency(std::size_t option, const ValueOf& value_of);
const OptionCondition* unmet_dependency(std::string_view key, const ValueOf& value_of);

/// "attention.score is 'cosine', or attention.window is given": the condition and its other cases.
std::string condition_in_words(const OptionCondition& condition);
/// The condition in words, without the name of the option: "matters only where attention.score is 'cosine'".
std::string dependency_in_words(const OptionCondition& dependency);

} // namespace heed
