// What configurations can name and other rooms register. Tasks, models and most of the rest stand above config/, which
// includes none of them: the room experiments/registry/, above them all, gathers what they register.
#pragma once

#include "options/variant.hpp"

#include <string>
#include <vector>

namespace heed {

/// The words that an option may be, where they stand in another room's list.
struct RegisteredWords {
  std::string key; ///< the option's full name
  std::vector<std::string> words;
};

struct Registry {
  std::vector<VariantFamily> families; ///< in the order in which they are shown
  std::vector<RegisteredWords> words;
};

/// Defined in experiments/registry/, so that a program without it does not link: it can't be empty or come too late.
Registry registry();

} // namespace heed
