// Task `scan`: commands of a small language, and the actions that they stand for.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/training_order.hpp"
#include "experiments/tasks/listed_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heed {

extern const TaskInfo task_scan;

namespace {

struct ScanOptions {
  std::string split = "simple";
  std::int64_t cutoff = 22;
};

struct Command {
  std::string text, actions;
};

/// Why a command belongs to the test part or not, and what is repeated in training.
struct SplitRule {
  const char* name;
  /// Is the command, by its number under a random order of all, one for the test?
  bool (*tests)(const Command& command, std::uint64_t place, const ScanOptions& options);
  /// A command that stays in training although it has what is tested, repeated to a tenth of training.
  std::string_view primitive;
};

std::int64_t count_words(const std::string& text) {
  return text.empty() ? 0 : 1 + std::count(text.begin(), text.end(), ' ');
}

bool has(const Command& command, std::string_view words) {
  return (" " + command.text + " ").find(fmt::format(" {} ", words)) != std::string::npos;
}

constexpr std::uint64_t simple_training = 16728;  // 80 % of 20,910, as published

constexpr SplitRule rules[] = {
    {"simple", [](const Command&, std::uint64_t place, const ScanOptions&) { return place >= simple_training; }, ""},
    {"length",
     [](const Command& c, std::uint64_t, const ScanOptions& o) { return count_words(c.actions) > o.cutoff; }, ""},
    {"add_jump", [](const Command& c, std::uint64_t, const ScanOptions&) { return has(c, "jump"); }, "jump"},
    {"add_turn_left", [](const Command& c, std::uint64_t, const ScanOptions&) { return has(c, "turn left"); },
     "turn left"},
};

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const SplitRule& rule : rules) names.emplace_back(rule.name);
  return names;
}

const OptionTable<ScanOptions>& scan_option_table() {
  static const auto table = option_table<ScanOptions>(
      option("split", &ScanOptions::split,
             "what is kept for the test: a fifth of all commands, at random; those of more than cutoff actions; those "
             "with jump, or with turn left, but for that primitive alone")
          .one_of(rule_names()),
      option("cutoff", &ScanOptions::cutoff, "the most actions of a training command").at_least(1).at_most(47)
          .unit("actions"));
  return table;
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

/// V of the grammar without twice and thrice: U, U left, U opposite left, U around left and so on, with turn for U.
std::vector<Command> directed_verbs() {
  std::vector<Command> out;
  for (const auto& [verb, action] : {std::pair<const char*, const char*>{"walk", "I_WALK"}, {"look", "I_LOOK"},
                                     {"run", "I_RUN"}, {"jump", "I_JUMP"}, {"turn", ""}}) {
    if (*action != '\0') out.push_back({verb, action});
    for (const auto& [side, turn] : {std::pair<const char*, const char*>{"left", "I_TURN_LEFT"},
                                     {"right", "I_TURN_RIGHT"}}) {
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

/// The commands of training and test, by their places in a random order.
struct Parts {
  std::vector<const Command*> training, test;
  const Command* primitive = nullptr;
};

Parts split_commands(const std::vector<Command>& commands, const SplitRule& rule, const ScanOptions& options,
                     std::uint64_t seed) {
  Parts parts;
  for (std::uint64_t place = 0; place < commands.size(); ++place) {
    const RandomKey key{seed, Stream::evaluation_rows, 1};
    const Command& c = commands[static_cast<std::size_t>(permuted(key, place, commands.size()))];
    if (c.text == rule.primitive) parts.primitive = &c;
    else (rule.tests(c, place, options) ? parts.test : parts.training).push_back(&c);
  }
  return parts;
}

std::unique_ptr<Task> make_scan(const Config& config) {
  const ScanOptions options = scan_option_table().read(config.task_options);
  const auto rule = std::ranges::find(rules, options.split, &SplitRule::name);
  const std::vector<Command> commands = all_commands();
  const Parts parts = split_commands(commands, *rule, options, static_cast<std::uint64_t>(config.task.seed));
  const std::int64_t training = std::ssize(parts.training), validation = config.task.validation;
  if (validation >= training)
    throw Refused(fmt::format("[task] validation = {} is all of the {} different training commands of the split {}; it "
                              "is taken from them, so it must be smaller",
                              validation, training, options.split));
  Listing scan;
  scan.name = "scan";
  scan.fingerprint = fmt::format("scan 1: split = {}, cutoff = {}; seed = {}, validation = {}", options.split,
                                 options.cutoff, config.task.seed, validation);
  scan.input = word_vocabulary({"walk", "look", "run", "jump", "turn", "left", "right", "opposite", "around", "twice",
                                "thrice", "and", "after"});
  scan.output = word_vocabulary({"I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT"});
  const auto add = [&](const Command& command, Split split) {
    std::vector<std::int32_t> input, output;
    scan.input->encode(command.text, input);
    scan.output->encode(command.actions, output);
    scan.examples[static_cast<std::size_t>(split)].add(input, output);
  };
  for (std::int64_t i = 0; i < training; ++i)
    add(*parts.training[static_cast<std::size_t>(i)], i < validation ? Split::validation : Split::train);
  for (const Command* command : parts.test) add(*command, Split::test);
  if (parts.primitive) {
    const std::int64_t times = (training + 4) / 9;  // a tenth of the sum, rounded: 1 part in 9 of the others
    add(*parts.primitive, Split::train);
    scan.examples[0].repeat_last(times);
    scan.notes.push_back(fmt::format("training has \"{}\" {} times, a tenth of the part that it shares with validation",
                                     rule->primitive, times));
  }
  scan.notes.push_back("validation is taken from the published training part");
  scan.chance = commonest_output_token(scan);
  return listed_task(config, std::move(scan));
}

} // namespace

const TaskInfo task_scan = {
    {.name = "scan",
     .summary = "commands and their actions: jump left twice = I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP",
     .paper = "Lake and Baroni 2018, Generalization without Systematicity, arXiv 1711.00350",
     .equals = "",
     .cost = "20,910 examples; inputs of up to 9 words, outputs of up to 48; data.bucket saves most of the padding",
     .options = scan_option_table().options(),
     .presets = {}},
    make_scan};

} // namespace heed
