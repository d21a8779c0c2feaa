#include "experiments/command_line/completion.hpp"

#include "experiments/actions/new_config.hpp"
#include "experiments/command_line/completion_scripts.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/index/run_index.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <set>
#include <utility>

namespace heed {

namespace {

using Paths = Completions::Paths;

constexpr std::size_t most_words = 2000; ///< a shell cannot show more

/// What has been typed before the cursor.
struct Typed {
  const CommandSyntax* command = nullptr;
  const ArgumentSyntax* open = nullptr;          ///< the option whose value is at the cursor
  std::size_t positionals = 0;                   ///< number of positional arguments before the cursor
  bool only_positionals = false;                 ///< after "--"
  std::map<std::string, std::string> given = {}; ///< options and positional arguments, with their last values
};

const ArgumentSyntax* argument_named(const CommandSyntax& command, const std::string& name) {
  for (const ArgumentSyntax& argument : command.arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

/// The positional argument with this number; the last one repeats if it can.
const ArgumentSyntax* positional(const CommandSyntax& command, std::size_t number) {
  const ArgumentSyntax* last = nullptr;
  for (const ArgumentSyntax& argument : command.arguments) {
    if (argument.is_option()) continue;
    if (number == 0) return &argument;
    --number;
    last = &argument;
  }
  return last && last->repeatable ? last : nullptr;
}

Typed typed_before(const std::vector<std::string>& words, const CommandSyntax& command) {
  Typed typed{.command = &command};
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (typed.open) {
      typed.given[typed.open->name] = word;
      typed.open = nullptr;
    } else if (!typed.only_positionals && word == "--") typed.only_positionals = true;
    else if (!typed.only_positionals && word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      const ArgumentSyntax* option = argument_named(command, word.substr(0, equals));
      if (!option) continue;
      typed.given[option->name] = equals == std::string::npos ? "" : word.substr(equals + 1);
      if (option->takes_value && equals == std::string::npos) typed.open = option;
    } else {
      if (const ArgumentSyntax* argument = positional(command, typed.positionals)) typed.given[argument->name] = word;
      ++typed.positionals;
    }
  }
  return typed;
}

std::string output_folder(const Typed& typed) {
  for (const char* name : {"--out", "OUT"})
    if (const auto given = typed.given.find(name); given != typed.given.end() && !given->second.empty())
      return given->second;
  return "runs";
}

/// The names of sweeps in an output folder. Another user may have created the folder: only plain names are offered.
std::vector<std::string> sweeps_in(const std::string& out) {
  std::vector<std::string> names;
  if (const auto listed = OutputFile(out, "sweeps").names())
    std::ranges::copy_if(*listed, std::back_inserter(names), [](const std::string& name) {
      return !name.empty() && !name.starts_with('-') && !name.starts_with('.') && all_plain(name, "-_.+");
    });
  return names;
}

/// `attention.score=`, or `attention.` where the typed text has no dot yet: option names, one part after the other.
std::vector<std::string> option_names(const std::string& typed) {
  const std::size_t known = typed.rfind('.') == std::string::npos ? 0 : typed.rfind('.') + 1;
  std::set<std::string> names;
  const auto add = [&](const std::string& key) {
    if (!key.starts_with(typed)) return;
    const std::size_t dot = key.find('.', known);
    names.insert(dot == std::string::npos ? key + '=' : key.substr(0, dot + 1));
  };
  for (const std::string& key : all_keys())
    if (const Option* option = find_option(key); option && !option->of_tables) add(key);
  add("sweep.seeds");
  return {names.begin(), names.end()};
}

/// The options that have a part which begins with the typed text: `train.clip=` for `clip`.
std::vector<std::string> options_with_part(const std::string& typed) {
  constexpr std::size_t least = 3; // shorter texts begin too many parts
  std::vector<std::string> names;
  if (typed.size() < least || typed.find('.') != std::string::npos) return names;
  for (const std::string& key : all_keys())
    if (const Option* option = find_option(key); option && !option->of_tables)
      if (key.find('.' + typed) != std::string::npos || key.find('_' + typed) != std::string::npos)
        names.push_back(key + '=');
  // A shell inserts what all words have in common. With the text itself among them, it keeps the text and shows the
  // words.
  if (names.size() > 1) names.push_back(typed);
  return names;
}

/// The fields of `heed runs` that are known without the index.
std::vector<std::string> run_fields() {
  std::vector<std::string> names{"arm"};
  for (const RunColumn& column : run_columns) names.emplace_back(column.name);
  for (const std::string& key : all_keys())
    if (const Option* option = find_option(key); option && !option->of_tables) names.push_back(key);
  for (const std::string& metric : metric_names())
    for (const char* part : {"", ".best", ".best_step"}) names.push_back(metric + part);
  return names;
}

/// A list with commas between: the fields that can follow the last comma.
std::vector<std::string> run_fields_after(const std::string& typed) {
  const std::size_t comma = typed.rfind(',');
  std::vector<std::string> names = run_fields();
  if (comma != std::string::npos)
    for (std::string& name : names) name.insert(0, typed.substr(0, comma + 1));
  return names;
}

/// `a.b=value`: names before the '=', and values after it.
Completions override_at(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) {
    std::vector<std::string> names = option_names(word);
    if (!names.empty()) return {.words = std::move(names)};
    return {.words = options_with_part(word), .replace = true};
  }
  const std::string key = word.substr(0, equals);
  const Option* option = find_option(key);
  if (!option) return {};
  Completions out;
  std::vector<std::string> values = option->words;
  if (option->type == OptionType::boolean) values = {"true", "false"};
  for (const std::string& value : values) out.words.push_back(fmt::format("{}={}", key, value));
  const bool is_path = option->name.ends_with("path") || option->name == "sentencepiece" ||
                       option->name.ends_with("target");
  if (option->type == OptionType::text && values.empty() && is_path) {
    out.paths = Paths::files;
    out.before_path = word.substr(0, equals + 1);
  }
  return out;
}

std::vector<std::string> tables_and_options() {
  std::vector<std::string> words;
  for (const TableInfo& table : catalogue())
    if (!table.table.empty()) words.push_back(table.table);
  std::ranges::copy(all_keys(), std::back_inserter(words));
  return words;
}

std::vector<std::string> families_and_variants() {
  std::vector<std::string> words;
  for (const FamilyPlace& place : family_places()) {
    words.push_back(place.key);
    for (const Variant* variant : place.family.variants) words.push_back(variant->name);
  }
  return words;
}

/// What can stand for an argument. `word` is the text of the value so far.
Completions values_of(const ArgumentSyntax& argument, const std::string& word, const Typed& typed) {
  const std::string& name = argument.name;
  if (!argument.words.empty()) return {.words = argument.words};
  if (name == "OVERRIDES") return override_at(word);
  if (name == "KIND") return {.words = new_config_kinds()};
  if (name == "TABLE") return {.words = tables_and_options()};
  if (name == "FAMILY") return {.words = families_and_variants()};
  if (name == "RUN") return {.words = run_ids(output_folder(typed))};
  if (name == "A" || name == "B") return {Paths::files, run_ids(output_folder(typed))};
  if (name == "CONFIG") {
    const bool takes_run = typed.command->name == "show" || typed.command->name == "inspect";
    return {Paths::files, takes_run ? run_ids(output_folder(typed)) : std::vector<std::string>()};
  }
  if (argument.value_name == "FIELD") return {.words = run_fields()};
  if (argument.value_name == "FIELDS") return {.words = run_fields_after(word)};
  if (name == "--sweep") return {.words = sweeps_in(output_folder(typed))};
  if (name == "OUT" || argument.value_name == "FOLDER") return {.paths = Paths::folders};
  if (name == "DATA" || argument.value_name == "FILE") return {.paths = Paths::files};
  return {};
}

Completions candidates(const std::vector<std::string>& words, const std::vector<CommandSyntax>& commands) {
  if (words.empty()) return {};
  const std::string& word = words.back();
  if (words.size() == 1) {
    if (word.starts_with('-')) return {.words = {"--help", "--version"}};
    Completions out;
    for (const CommandSyntax& command : commands) out.words.push_back(command.name);
    // These words belong to the launcher of a checkout.
    if (std::getenv("HEED_LAUNCHER")) out.words.insert(out.words.end(), {"test", "bench", "style", "tidy"});
    return out;
  }
  const auto command = std::ranges::find(commands, words.front(), &CommandSyntax::name);
  if (command == commands.end()) return {};
  const Typed typed = typed_before(words, *command);
  if (typed.open) return values_of(*typed.open, word, typed);
  if (word.starts_with('-') && !typed.only_positionals) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      const ArgumentSyntax* option = argument_named(*command, word.substr(0, equals));
      if (!option) return {};
      Completions out = values_of(*option, word.substr(equals + 1), typed);
      const std::string before = word.substr(0, equals + 1);
      for (std::string& value : out.words) value.insert(0, before);
      out.before_path.insert(0, before);
      return out;
    }
    Completions out;
    for (const ArgumentSyntax& argument : command->arguments)
      if (argument.is_option() && (argument.repeatable || !typed.given.contains(argument.name)))
        out.words.push_back(argument.name);
    return out;
  }
  const ArgumentSyntax* argument = positional(*command, typed.positionals);
  return argument ? values_of(*argument, word, typed) : Completions();
}

} // namespace

Completions complete(const std::vector<std::string>& words, const std::vector<CommandSyntax>& commands) {
  Completions out;
  try {
    out = candidates(words, commands);
  } catch (const std::exception&) {
    return {}; // a folder that cannot be listed has nothing to offer
  }
  if (!out.replace) std::erase_if(out.words, [&](const std::string& word) { return !word.starts_with(words.back()); });
  std::ranges::sort(out.words);
  out.words.erase(std::unique(out.words.begin(), out.words.end()), out.words.end());
  if (out.words.size() > most_words) out.words.resize(most_words);
  return out;
}

void write_completions(const Completions& completions, std::ostream& to) {
  if (completions.paths == Paths::none) {
    to << "none\n";
  } else {
    to << (completions.paths == Paths::files ? "files" : "folders");
    to << (completions.before_path.empty() ? "" : " ") << completions.before_path << '\n';
  }
  for (const std::string& word : completions.words) to << word << '\n';
}

std::vector<std::string> completed_shells() { return {"bash", "zsh"}; }

std::string completion_script(const std::string& shell) {
  return shell == "zsh" ? completion_scripts::zsh : completion_scripts::bash;
}

} // namespace heed
