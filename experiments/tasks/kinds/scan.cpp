// Task `scan`: translate commands of a small language to sequences of actions. The examples come from the grammar or
// from files.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/data/training_order.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/listed_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace heed {

extern const TaskInfo task_scan;

namespace {

struct ScanOptions {
  std::string split = "simple";
  std::int64_t cutoff = 22;
};

struct Command {
  std::string text, actions;
  std::int64_t line = 0; ///< line number in its file
};

/// The commands that occur exactly once in `commands`.
std::set<std::string_view> single_commands(const std::vector<Command>& commands) {
  std::map<std::string_view, int> times;
  for (const Command& command : commands) ++times[command.text];
  std::set<std::string_view> out;
  for (const auto& [text, count] : times)
    if (count == 1) out.insert(text);
  return out;
}

/// The rule that assigns commands to training or test, and the command that training repeats.
struct SplitRule {
  const char* name;
  /// Is the command in the test split? `place` is its position in a random order of all commands.
  bool (*tests)(const Command& command, std::uint64_t place, const ScanOptions& options);
  /// A command that stays in training although the rule would test it. Its repetitions are a tenth of training.
  std::string_view primitive;
};

std::int64_t count_words(const std::string& text) {
  return text.empty() ? 0 : 1 + std::count(text.begin(), text.end(), ' ');
}

bool has(const Command& command, std::string_view words) {
  return (" " + command.text + " ").find(fmt::format(" {} ", words)) != std::string::npos;
}

constexpr std::uint64_t simple_training = 16728; // 80 % of 20,910: the published size, but a new random split

constexpr SplitRule rules[] = {
    {"simple", [](const Command&, std::uint64_t place, const ScanOptions&) { return place >= simple_training; }, ""},
    {"length", [](const Command& c, std::uint64_t, const ScanOptions& o) { return count_words(c.actions) > o.cutoff; },
     ""},
    {"add_jump", [](const Command& c, std::uint64_t, const ScanOptions&) { return has(c, "jump"); }, "jump"},
    {"add_turn_left", [](const Command& c, std::uint64_t, const ScanOptions&) { return has(c, "turn left"); },
     "turn left"},
};

const OptionTable<ScanOptions>& scan_option_table() {
  static const auto table = option_table<ScanOptions>(
      option("split", &ScanOptions::split,
             "the commands of the test split: a random fifth of all (simple); those with more than cutoff actions "
             "(length); those with jump (add_jump) or turn left (add_turn_left), except for the command that is only "
             "this primitive")
          .one_of(names_of(rules)),
      option("cutoff", &ScanOptions::cutoff, "the most actions of a training command").between(1, 47).unit("actions"));
  return table;
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

/// All expansions of V in the grammar below: U, U left, U opposite left, U around left and so on, also with turn for U.
std::vector<Command> directed_verbs() {
  std::vector<Command> out;
  for (const auto& [verb, action] : {std::pair<const char*, const char*>{"walk", "I_WALK"},
                                     {"look", "I_LOOK"},
                                     {"run", "I_RUN"},
                                     {"jump", "I_JUMP"},
                                     {"turn", ""}}) {
    if (*action != '\0') out.push_back({verb, action});
    for (const auto& [side, turn] :
         {std::pair<const char*, const char*>{"left", "I_TURN_LEFT"}, {"right", "I_TURN_RIGHT"}}) {
      const std::string once = joined({turn, action});
      out.push_back({joined({verb, side}), once});
      out.push_back({joined({verb, "opposite", side}), joined({turn, once})});
      out.push_back({joined({verb, "around", side}), joined({once, once, once, once})});
    }
  }
  return out;
}

/// All 20,910 commands:
/// C -> S and S | S after S | S;  S -> V twice | V thrice | V;  V -> D opposite | D around | D | U.
std::vector<Command> all_commands() {
  std::vector<Command> sentences;
  for (const Command& v : directed_verbs()) {
    sentences.push_back(v);
    sentences.push_back({v.text + " twice", joined({v.actions, v.actions})});
    sentences.push_back({v.text + " thrice", joined({v.actions, v.actions, v.actions})});
  }
  std::vector<Command> out = sentences;
  for (const Command& a : sentences)
    for (const Command& b : sentences) {
      out.push_back({a.text + " and " + b.text, joined({a.actions, b.actions})});
      out.push_back({a.text + " after " + b.text, joined({b.actions, a.actions})});
    }
  return out;
}

/// The commands of training and test, each in random order.
struct Parts {
  std::vector<const Command*> training, test;
  const Command* primitive = nullptr;
};

Parts split_commands(const std::vector<Command>& commands, const SplitRule& rule, const ScanOptions& options,
                     std::uint64_t seed) {
  Parts parts;
  for (std::uint64_t place = 0; place < commands.size(); ++place) {
    const RandomKey key{seed, Stream::evaluation_sequences, 1};
    const Command& c = commands[static_cast<std::size_t>(permuted(key, place, commands.size()))];
    if (c.text == rule.primitive) parts.primitive = &c;
    else (rule.tests(c, place, options) ? parts.test : parts.training).push_back(&c);
  }
  return parts;
}

/// Reads a published file. Each line is "IN: ", a command, " OUT: ", and the command's actions.
std::vector<Command> read_commands(const std::string& option, const std::string& path, std::string& fingerprint) {
  constexpr std::string_view in = "IN: ", out = " OUT: ";
  const std::string bytes = read_data_file("data", option, path);
  fingerprint += fmt::format("{}{} {}", fingerprint.empty() ? "" : "; ", option, fingerprint_of(bytes));
  std::vector<Command> commands;
  for (const TableRow& row : read_lines(bytes, path)) {
    const std::string& line = row.cells.front();
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const std::size_t middle = line.find(out);
    if (!line.starts_with(in) || middle == line.npos)
      throw Refused(fmt::format("{}:{}: a line is \"IN: \", a command, \" OUT: \" and its actions, as in the published "
                                "files (github.com/brendenlake/SCAN)",
                                path, row.line));
    commands.push_back({line.substr(in.size(), middle - in.size()), line.substr(middle + out.size()), row.line});
  }
  if (commands.empty()) throw Refused(fmt::format("[data] {} = \"{}\" has no command", option, path));
  return commands;
}

/// The commands in random order.
std::vector<const Command*> shuffled(const std::vector<Command>& commands, std::uint64_t seed) {
  std::vector<const Command*> out;
  for (std::uint64_t place = 0; place < commands.size(); ++place)
    out.push_back(&commands[permuted({seed, Stream::evaluation_sequences, 1}, place, commands.size())]);
  return out;
}

/// Adds the example of a command to a split. `path` is the command's file; empty if the command comes from the grammar.
void add_command(const Command& command, Split split, const std::string& path, Dataset& scan) {
  std::vector<std::int32_t> input, output;
  try {
    scan.input->encode(command.text, input);
    scan.output->encode(command.actions, output);
  } catch (const Refused& refused) {
    throw Refused(fmt::format("{}:{}: {}", path, command.line, refused.what()));
  }
  if (input.empty() || output.empty())
    throw Refused(fmt::format("{}:{}: the command or its actions are missing", path, command.line));
  scan.examples[static_cast<std::size_t>(split)].add(input, output);
}

[[noreturn]] void refuse_validation(std::int64_t validation, std::size_t training, const std::string& of) {
  throw Refused(fmt::format("[task] validation = {} is all of the {} different training commands of {}; it is taken "
                            "from them, so it must be smaller",
                            validation, training, of));
}

void list_grammar(const Config& config, const ScanOptions& options, Dataset& scan) {
  const auto rule = std::ranges::find(rules, options.split, &SplitRule::name);
  const std::vector<Command> commands = all_commands();
  const Parts parts = split_commands(commands, *rule, options, config.split_seed());
  const std::int64_t training = std::ssize(parts.training), validation = config.task.validation;
  if (validation >= training) refuse_validation(validation, parts.training.size(), "the split " + options.split);
  scan.fingerprint = fmt::format("scan 1: split = {}, cutoff = {}; seed = {}, validation = {}", options.split,
                                 options.cutoff, config.split_seed(), validation);
  for (std::int64_t i = 0; i < training; ++i)
    add_command(*parts.training[static_cast<std::size_t>(i)], i < validation ? Split::validation : Split::train, "",
                scan);
  for (const Command* command : parts.test) add_command(*command, Split::test, "", scan);
  if (parts.primitive) {
    const std::int64_t times = (training + 4) / 9; // a tenth of the sum, rounded: times / (training + times) = 1 / 10
    add_command(*parts.primitive, Split::train, "", scan);
    scan.examples[0].repeat_last(times);
    scan.notes.push_back(fmt::format("training has \"{}\" {} times, a tenth of the part that it shares with validation",
                                     rule->primitive, times));
  }
  if (options.split == "simple")
    scan.notes.push_back(
        "the test has the published one's size, but other commands: a fifth of all, drawn by "
        "task.seed or data.split_seed; for the published ones, name their files (data.path, data.test_path)");
  scan.notes.push_back("validation is taken from the training part");
}

void list_files(const Config& config, Dataset& scan) {
  const std::uint64_t seed = config.split_seed();
  const DataOptions& data = config.data;
  std::string files;
  const std::vector<Command> training = read_commands("path", data.path, files);
  scan.files = {data.path, data.validation_path, data.test_path};
  for (std::string& file : scan.files)
    if (file.empty()) file = data.path;
  const auto add_file = [&](const char* option, const std::string& path, Split split) {
    const std::vector<Command> commands = read_commands(option, path, files);
    for (const Command* command : shuffled(commands, seed)) add_command(*command, split, path, scan);
  };
  std::set<std::string_view> held_out;
  if (data.validation_path.empty()) {
    // A command that a published training file repeats is one that it teaches in isolation ("jump"), so it stays in
    // training.
    const std::set<std::string_view> single = single_commands(training);
    const std::int64_t validation = config.task.validation;
    if (validation >= std::ssize(single)) refuse_validation(validation, single.size(), data.path);
    for (const Command* command : shuffled(training, seed)) {
      if (std::ssize(held_out) == validation) break;
      if (!single.contains(command->text)) continue;
      held_out.insert(command->text);
      add_command(*command, Split::validation, data.path, scan);
    }
    scan.notes.push_back("validation is taken from data.path, from the commands that it does not repeat");
  } else {
    add_file("validation_path", data.validation_path, Split::validation);
  }
  if (!config.of_set.empty()) {
    scan.examples[static_cast<std::size_t>(Split::validation)] = {};
    add_file("validation_sets", config.of_set, Split::validation);
  }
  for (const Command* command : shuffled(training, seed))
    if (!held_out.contains(command->text)) add_command(*command, Split::train, data.path, scan);
  if (data.test_path.empty()) scan.notes.push_back("there is no test: name its file, data.test_path=FILE");
  else add_file("test_path", data.test_path, Split::test);
  scan.fingerprint = fmt::format("scan files 1: {}; seed = {}", files, config.split_seed());
  if (data.validation_path.empty()) scan.fingerprint += fmt::format(", validation = {}", config.task.validation);
}

std::unique_ptr<Task> make_scan(const Config& config) {
  Dataset scan;
  scan.name = "scan";
  scan.input = word_vocabulary({"walk", "look", "run", "jump", "turn", "left", "right", "opposite", "around", "twice",
                                "thrice", "and", "after"});
  scan.output = word_vocabulary({"I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT"});
  if (config.data.path.empty()) list_grammar(config, scan_option_table().read(config.task_options), scan);
  else list_files(config, scan);
  scan.chance = commonest_output_token(scan);
  return listed_task(config, std::move(scan));
}

} // namespace

const TaskInfo task_scan = {
    {.name = "scan",
     .summary = "commands and their actions: jump left twice = I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP; generated from "
                "the grammar, or read from the published files",
     .paper = "Lake and Baroni 2018, Generalization without Systematicity, arXiv 1711.00350",
     .cost = "20,910 examples; inputs of up to 9 words, outputs of up to 48; data.bucket saves most of the padding",
     .options = scan_option_table().options(),
     .disables = {"task.test"},
     .uses = {"data.path", "data.bucket", "train.batch_tokens", "train.full_batch"},
     .conditions = {seed_of_splits(),
                    {"task.scan.split", "data.path", {OptionCondition::anything}, true},
                    {"task.scan.cutoff", "task.scan.split", {"length"}}}},
    make_scan};

} // namespace heed
