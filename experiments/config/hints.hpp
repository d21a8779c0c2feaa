// What people call things elsewhere, and what Heed calls them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What one or several words are called in Heed.
struct Hint {
  std::string_view where;              ///< as in `hint_for`
  std::vector<std::string_view> words; ///< in lower case, with "_" between words
  std::string_view in_heed;
};
const std::vector<Hint>& hints();

/// "; in Heed, this is 'rotary'" for a word that papers and other libraries use, or empty if no hint is known. Case,
/// "-" and "_" make no difference. @param where  an option whose value it is ("position.kind"), the table whose option
/// it is ("[attention]"), or "--"
///               for an option of the command line
std::string hint_for(std::string_view where, std::string_view word);

/// The same for the name of an option in any table of the model and of training.
std::string hint_of_tables(std::string_view name);

} // namespace heed
