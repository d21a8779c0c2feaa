// Looks at the beginning of a data file and guesses the options of its task, for `heed new`.
#pragma once

#include "options/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What the file says about the options of its task.
struct DataGuess {
  OptionValues values; ///< of [task.KIND], by option name
  std::string how;     ///< a sentence for the comments of these values; begins with a space
  /// A sentence for the comment of an option without a guess, if the user may have to edit it.
  std::string edit(std::string_view option) const;
  std::vector<std::string> to_edit = {}; ///< options that the user may have to edit
  /// pairs: no input has a blank, so a line of words would be one token, and new lines would be unknown
  bool without_blanks = false;
  /// pairs: a sentence if the first line looks like names of columns, which would be read as an example
  std::string note = {};
};

/// @param kind     text, pairs, labels or images
/// @param data     the files that the user gave, perhaps none
/// @param program  how the user calls Heed, for messages
/// Throws heed::Refused if a file does not exist, or if it cannot be the data of this kind.
DataGuess guess_data(const std::string& kind, const std::vector<std::string>& data, const std::string& program);

} // namespace heed
