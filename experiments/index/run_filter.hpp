// `--where`: which runs, as researchers write it, read by Heed and turned into SQL.
//
//   filter      := and { "or" and }
//   and         := not { "and" not }
//   not         := "not" not | "(" filter ")" | comparison
//   comparison  := operand ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) operand
//                | NAME [ "not" ] "like" TEXT | NAME [ "not" ] "in" "(" literal { "," literal } ")"
//   operand     := NAME | literal
//   literal     := NUMBER | TEXT | "true" | "false"
//
// A NAME is that of a field (attention.score, block[1].residual, val_loss), or anything within "double quotes"; a TEXT
// stands in 'single quotes', one of these within written twice. Words of the grammar are read in either case. `like`
// takes % for any characters and _ for one, and does not mind upper and lower case.
//
// A comparison holds for no run that lacks the field, whether as it stands or after `not`.
#pragma once

#include "experiments/index/run_index.hpp"

#include <string_view>

namespace heed {

/// The filter as SQL about the row `r` of `runs`. Names, types and words are checked, since SQLite would take a
/// misspelt name for a text. Throws heed::Refused: where in the text, what was found, what is allowed, the nearest
/// name.
SqlPart parse_filter(std::string_view text, const std::vector<IndexField>& fields);

} // namespace heed
