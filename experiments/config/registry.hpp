// The names that other modules register for use in configurations, such as tasks and models. Most of these modules are
// above config/, which includes none of them. The module experiments/registry/, which is above all of them, collects
// their names.
#pragma once

#include "options/sketch.hpp"
#include "options/variant.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heed {

struct Config;

/// The allowed words of an option, if another module's list defines them.
struct RegisteredWords {
  std::string key; ///< the option's full name
  std::vector<std::string> words;
};

struct Registry {
  std::vector<VariantFamily> families; ///< in display order
  std::vector<const Variant*> parts;   ///< of attention: their options are keys of [attention]
  std::vector<RegisteredWords> words;
  std::vector<Exclusion> exclusions;                      ///< of layers: with the condition that the variant is chosen
  std::map<std::string, std::vector<std::string>> stacks; ///< by model: the names of its stacks of blocks, in order
};

/// Defined in experiments/registry/, so a program without that module does not link. Therefore the registry is never
/// empty and never filled too late.
Registry registry();

/// Choices of which no model can be made.
struct WrongChoice {
  std::vector<std::string> options; ///< the full names of those that exclude each other; empty: it is about numbers
  std::string why;                  ///< a sentence: why, and what to choose instead
  std::size_t stack = 0, block = 0; ///< the block that has them
};

/// Why no model of this configuration can be made, whatever the task; none: it can. `of_model`: the values of options
/// outside of blocks that have an effect. Defined in experiments/registry/.
std::optional<WrongChoice> wrong_choice(const Config& config, const std::map<std::string, Value>& of_model);

/// Why no run of any configuration has a metric of this name, as the end of a sentence; empty if some run has. Defined
/// in experiments/registry/.
std::string wrong_metric(const std::string& name);

/// The panels of a variant's picture, with the default options of the variant; empty if it has no picture. `key` names
/// the family: "attention.score". Defined in experiments/registry/.
std::vector<Sketch> sketches_of(const std::string& key, const std::string& name);

/// A word of an option that is no family of variants, with a picture.
struct SketchedWord {
  std::string key, word;
  std::string summary; ///< what the picture shows
};
/// All of them; `sketches_of` has their panels.
const std::vector<SketchedWord>& sketched_words();

} // namespace heed
