// Error messages for unknown options and tables, with the nearest name, and with what Heed calls a thing that others
// call differently.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// "[attention] has no option 'scroe'; did you mean 'score'?"
std::string unknown_option(std::string_view table, std::string_view name);
/// "there is no table [atention]; did you mean [attention]?"
std::string unknown_table(std::string_view table);
/// The end of a message about a word that an option does not have: what it is called in Heed, the option that has this
/// word, or the nearest word; empty if none of these is known.
std::string other_word(std::string_view key, const std::string& word, const std::vector<std::string>& allowed);
/// The full names of the options with this name, in any table.
std::vector<std::string> keys_named(std::string_view name);
/// The full names of the options with this word, or its plural, in their names or descriptions. Empty for words of less
/// than three letters.
std::vector<std::string> keys_about(std::string_view word);
/// The message for a full name, as on a command line: about the option or the table, depending on which helps more.
std::string unknown_key(std::string_view key);

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
