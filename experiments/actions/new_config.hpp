// Writes the text of a new configuration with comments, for `heed new`. The tasks and their options come from the
// registry, so a new task needs no code here.
#pragma once

#include <string>
#include <vector>

namespace heed {

/// What `heed new` can write a configuration for: text, pairs, labels, images, and each task that generates its
/// examples.
std::vector<std::string> new_config_kinds();
/// The tasks that generate their examples, in the order of the registry.
std::vector<std::string> generated_kinds();

struct NewConfig {
  std::string kind;              ///< one of `new_config_kinds()`, or the name of a task
  std::vector<std::string> data; ///< the user's files: at most one; for `pairs`, the inputs and the outputs
  std::string file;              ///< the name of the configuration's file, for the comment at the top
  std::string program = "heed";  ///< the name by which the user calls the program
};

struct NewConfigText {
  std::string text; ///< the configuration in TOML
  std::string note; ///< DataGuess::note
};

/// Throws heed::Refused if the kind does not exist or if a data file cannot be used.
NewConfigText new_config_text(const NewConfig& wanted);

/// Whether the configuration names a data file that the user must put in, because none was given.
bool needs_data_path(const NewConfig& wanted);

} // namespace heed
