// Option values: conversion to and from text, and the check of whether an option may have a value.
#pragma once

#include "options/options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The largest seed. Every seed up to it is exact as a JSON number.
inline constexpr std::int64_t largest_seed = 1'000'000'000'000'000;

/// A value in TOML syntax. Reading the text gives the same value, bit for bit.
std::string value_text(const Value& value);
/// A text as a TOML string literal.
std::string toml_string(std::string_view text);

/// The control character at the start of the UTF-8 text (U+0000 to U+001F or U+007F to U+009F, except line ends and
/// tabs). Empty if the text starts with another character.
std::optional<unsigned> control_character(std::string_view text);
/// An error message about the first control character of a text, which a terminal would execute. Empty if the text has
/// none. `what` is the name of the text.
std::string wrong_text(std::string_view what, std::string_view text);
/// True if a terminal executes this character and does not print it: a control character, except line ends and tabs, or
/// a character that changes the text direction.
bool is_command(char32_t character);
/// A text that a terminal can print safely: control characters and bytes that are not UTF-8 are escaped as "\x1b" or
/// "\u202e". The function is idempotent. Console's streams (command_line/) and the logs of runs only contain such text.
std::string without_controls(std::string_view text);

/// The error in this value for this option (type, words or bounds) as a sentence; empty if the value is valid. `key` is
/// the option's full name.
std::string wrong_value(const Option& option, std::string_view key, const Value& value);

/// The error message for a value of the wrong type. `found` describes the value ("the text 'yes'").
std::string wrong_type(const Option& option, std::string_view key, std::string_view found);

/// "an integer", "one of 'pre', 'post', 'none'", "a list of numbers", ...
std::string type_in_words(const Option& option);
/// "at least 0 and below 1 (steps)"; empty if there are no bounds.
std::string bounds_in_words(const Option& option);
/// "'dot', 'cosine'".
std::string list_in_words(const std::vector<std::string>& words);
/// "; did you mean 'score'?", or empty if no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& allowed);

/// A value that was read, or the error in it.
struct ReadValue {
  std::optional<Value> value;
  std::string problem;
};

/// Reads the value of an option from the command line by the option's type: a bare word is a text if the option is a
/// text, and a list is written `[1, 2]`.
ReadValue read_text(const Option& option, std::string_view key, std::string_view text);

} // namespace heed
