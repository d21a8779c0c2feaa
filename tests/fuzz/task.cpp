// Fuzz target: tasks that read files, with all calls that training and evaluation make. Input: one byte for the task,
// one byte for the options, the file, NUL, and the second file if the task has one.
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/tasks/task.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

namespace {

constexpr std::int64_t most_sequences = 4;

/// The part of [data] that a task uses.
enum class Reads { commands, text, sequences };

struct Kind {
  std::string_view task, model;
  Reads reads;
  std::string_view options = "";     ///< lines of [task]
  std::string_view second_file = ""; ///< the option with the path of the second file; appended to `options`
};

constexpr Kind kinds[] = {
    {"text", "decoder", Reads::text},
    {"labelled_text", "encoder", Reads::sequences},
    {"labelled_text", "encoder", Reads::sequences,
     "labelled_text = { format = \"tsv\", header = false, text = \"1\", label = \"2\" }\n"},
    {"scan", "encoder_decoder", Reads::commands, "validation = 1\n"},
    {"scan", "encoder_decoder", Reads::commands, "validation = 1\n[data]\n", "test_path"},
    {"translation", "encoder_decoder", Reads::sequences},
    {"translation", "encoder_decoder", Reads::sequences, "", "translation.target"},
};

void check_sequences(const Batch& batch, const TaskSizes& sizes) {
  for (const std::int32_t token : batch.tokens) require(token >= 0 && token < sizes.vocabulary, "no such token");
  for (const std::int32_t target : batch.targets)
    require(target == ignored || (target >= 0 && target < sizes.classes), "no such target");
}

void use(const Task& task) {
  for (const TaskFormat format :
       {TaskFormat::language_model, TaskFormat::sequence_to_sequence, TaskFormat::classification}) {
    if (!task.refuses(format).empty()) continue;
    const TaskSizes sizes = task.sizes(format);
    // The data determines the length, so a long sequence is not an error.
    require(sizes.length > 0 && sizes.length < 1 << 20, "sequences of no length");
    Batch batch;
    for (std::int64_t sequence = 0; sequence < most_sequences; ++sequence) {
      batch.reset(1, sizes, format);
      task.training_sequence(format, 1, sequence, 0, batch, 0);
      check_sequences(batch, sizes);
    }
    for (const Split split : {Split::validation, Split::test})
      for (std::int64_t sequence = 0; sequence < std::min(most_sequences, task.evaluation_sequences(format, split));
           ++sequence) {
        batch.reset(1, sizes, format);
        task.evaluation_sequence(format, split, sequence, batch, 0);
        check_sequences(batch, sizes);
        task.decode(batch.tokens);
      }
    task.chance(format);
  }
  task.facts();
  task.fingerprint();
}

Config config_of(const Kind& kind, unsigned choices, const std::string& first, const std::string& second) {
  static const std::array<std::string, 4> tokens{"words", "bytes", "characters", "words"};
  std::string toml = fmt::format("[model]\nkind = \"{}\"\n[task]\nkind = \"{}\"\n{}", kind.model, kind.task,
                                 kind.options);
  if (!kind.second_file.empty()) toml += fmt::format("{} = \"{}\"\n", kind.second_file, second);
  toml += fmt::format("{}path = \"{}\"\n", kind.options.ends_with("[data]\n") ? "" : "[data]\n", first);
  if (kind.reads >= Reads::text)
    toml += fmt::format("train = 0.5\ntokens = \"{}\"\n{}", tokens[choices % 4], choices & 4 ? "test = 0.25\n" : "");
  if (kind.reads == Reads::sequences && choices & 8) toml += "max_length = 4\ntoo_long = \"cut\"\n";
  if (kind.reads == Reads::sequences && choices & 16) toml += "shuffle = false\n";
  Config config;
  const std::string wrong = refusal([&] { config = Settings::parse(toml, "input.toml").resolve(); });
  require(wrong.empty(), "the target's own configuration: " + wrong + "\n" + toml);
  return config;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static fuzz::MemoryFile first, second;
  static std::map<std::pair<std::size_t, unsigned>, Config> configs;
  std::string_view rest = fuzz::text(data + 2, size - 2);
  first.hold(fuzz::next_part(rest));
  second.hold(rest);
  const std::pair choice(data[0] % std::size(kinds), data[1] % 32U);
  if (!configs.contains(choice))
    configs.emplace(choice, config_of(kinds[choice.first], choice.second, first.path(), second.path()));
  std::unique_ptr<Task> task;
  if (refusal([&] { task = make_task(configs.at(choice)); }).empty()) use(*task);
  return 0;
}
