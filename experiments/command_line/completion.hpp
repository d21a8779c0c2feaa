// Completes a command line that is being typed. The shells' scripts (completion/) call it as `heed complete -- WORDS`.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace heed {

/// An option or a positional argument of a command.
struct ArgumentSyntax {
  std::string name;               ///< "--out"; without dashes: positional
  std::string value_name = "";    ///< "FOLDER"
  std::vector<std::string> words; ///< the allowed values; empty: any
  bool takes_value = false;       ///< false: a flag
  bool repeatable = false;        ///< may have several values
  bool is_option() const { return name.starts_with("--"); }
};

struct CommandSyntax {
  std::string name;
  std::vector<ArgumentSyntax> arguments;
};

/// What can stand at the cursor.
struct Completions {
  enum class Paths { none, files, folders };
  Paths paths = Paths::none; ///< whether paths may stand there, too
  /// Whole words. A word that ends in '=' or '.' continues: `train.`, `train.steps=`.
  std::vector<std::string> words = {};
  bool replace = false;         ///< the words contain the text at the cursor, and need not begin with it
  std::string before_path = {}; ///< what of the word stands before a path: `data.path=`, `--out=`
};

/// @param words  the words after the program's name; the last one is the word at the cursor, perhaps empty
/// Opens no file. It lists an output folder if a run or a sweep is expected. Never throws.
Completions complete(const std::vector<std::string>& words, const std::vector<CommandSyntax>& commands);

/// Writes `paths` (none; files or folders, and `before_path` if it is not empty) and the words, one on each line.
void write_completions(const Completions& completions, std::ostream& to);

/// The shells that have a script, and the script of each.
std::vector<std::string> completed_shells();
std::string completion_script(const std::string& shell);

} // namespace heed
