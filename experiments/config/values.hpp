// Values of options: as text, and whether an option may have them.
#pragma once

#include "options/options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Every seed up to it is exact as a JSON number, too.
inline constexpr std::int64_t largest_seed = 1'000'000'000'000'000;

/// A value as TOML writes it; reading it gives the same value, bit for bit.
std::string value_text(const Value& value);
/// A text as a TOML string.
std::string toml_string(std::string_view text);

/// The control character that the text, in UTF-8, begins with (U+0000 to U+001F, U+007F to U+009F), line ends and tabs
/// apart; nothing where it begins with another.
std::optional<unsigned> control_character(std::string_view text);
/// The sentence about a text's first control character, which a terminal would take for a command; empty where it has
/// none. `what` names the text.
std::string wrong_text(std::string_view what, std::string_view text);
/// Does a terminal obey this character, rather than show it? A control character, except line ends and tabs, or one that
/// changes the direction of what follows.
bool is_command(char32_t character);
/// A text that a terminal shows as it is. Commands, and bytes that are not UTF-8, stand in it as "\x1b" or "\u202e". To
/// do it twice changes nothing more. Console's streams (command_line/) and the logs of runs hold only such text.
std::string without_controls(std::string_view text);

/// What is wrong with the value for this option (type, words, bounds), as a sentence; empty where nothing is.
/// `key` is the option's full name.
std::string wrong_value(const Option& option, std::string_view key, const Value& value);

/// The sentence for a value of the wrong type; `found` describes it ("the text 'yes'").
std::string wrong_type(const Option& option, std::string_view key, std::string_view found);

/// "an integer", "one of 'pre', 'post', 'none'", "a list of numbers", ...
std::string type_in_words(const Option& option);
/// "at least 0 and below 1 (steps)"; empty where there are no bounds.
std::string bounds_in_words(const Option& option);
/// "'dot', 'cosine'".
std::string list_in_words(const std::vector<std::string>& words);
/// "; did you mean 'score'?", or nothing where no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& allowed);

/// A value that was read, or what is wrong with it.
struct ReadValue {
  std::optional<Value> value;
  std::string problem;
};

/// The value of an option from a command line, read by the option's type: a bare word is a text where the option is
/// one, and a list is `[1, 2]`.
ReadValue read_text(const Option& option, std::string_view key, std::string_view text);

} // namespace heed
