// Parses the filter of `heed runs --where`, which selects runs, and translates it to SQL.
//
//   filter      := and { "or" and }
//   and         := not { "and" not }
//   not         := "not" not | "(" filter ")" | comparison
//   comparison  := operand ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) operand
//                | NAME [ "not" ] "like" TEXT | NAME [ "not" ] "in" "(" literal { "," literal } ")"
//   operand     := NAME | literal
//   literal     := NUMBER | TEXT | "true" | "false"
//
// A NAME is the name of a field (attention.score, block[1].residual, val_loss), or anything in "double quotes". A TEXT
// is in 'single quotes'; a single quote in it is written twice. Keywords are case-insensitive. In `like`, % matches any
// characters and _ matches one character; it is case-insensitive.
//
// A run that lacks the field never matches a comparison, with or without `not`.
#pragma once

#include "experiments/index/run_index.hpp"

#include <string>
#include <string_view>

namespace heed {

/// Returns the filter as SQL about the row `r` of `runs`. Names, types and allowed words are checked, because SQLite
/// would treat a misspelt name as a text. Throws heed::Refused, and says where in the text the problem is, what was
/// found, what is allowed, and the nearest name.
/// @param option  the name of the filter in messages
SqlPart parse_filter(std::string_view text, const std::vector<IndexField>& fields,
                     const std::string& option = "--where");

} // namespace heed
