// Task `recall`: pairs of a key and a value, then one of the keys. The target is the value of this key.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace heed {

extern const TaskInfo task_recall;

namespace {

struct RecallOptions {
  std::int64_t pairs = 8;
  std::int64_t keys = 16;
  std::int64_t values = 16;
};

const OptionTable<RecallOptions>& recall_option_table() {
  static const auto table = option_table<RecallOptions>(
      option("pairs", &RecallOptions::pairs, "the number of keys, each with its value, before the query")
          .between(1, 1024)
          .unit("pairs"),
      option("keys", &RecallOptions::keys, "the number of different keys").between(1, 4096),
      option("values", &RecallOptions::values, "the number of different values").between(2, 4096));
  return table;
}

/// The number of examples: keys! / (keys - pairs)! values^pairs pairs.
double count_examples(const RecallOptions& options) {
  auto count = static_cast<double>(options.pairs);
  for (std::int64_t i = 0; i < options.pairs; ++i)
    count *= static_cast<double>(options.keys - i) * static_cast<double>(options.values);
  return count;
}

/// Draws an example. Keys are the tokens 0 ... keys - 1. Values follow them. The last token of the vocabulary marks the
/// query.
void draw_pairs(RandomSource& random, const RecallOptions& options, Example& example) {
  const auto draw = [&](std::int64_t n) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const auto first_value = static_cast<std::int32_t>(options.keys);
  const auto question = static_cast<std::int32_t>(options.keys + options.values);

  // A partial Fisher-Yates shuffle: each pair takes one of the remaining keys.
  std::vector<std::int32_t>& keys = example.scratch;
  keys.resize(static_cast<std::size_t>(options.keys));
  std::iota(keys.begin(), keys.end(), 0);
  example.input.clear();
  for (std::int64_t i = 0; i < options.pairs; ++i) {
    std::swap(keys[static_cast<std::size_t>(i)], keys[static_cast<std::size_t>(i + draw(options.keys - i))]);
    example.input.push_back(keys[static_cast<std::size_t>(i)]);
    example.input.push_back(first_value + draw(options.values));
  }
  const auto asked = 2 * static_cast<std::size_t>(draw(options.pairs));
  const std::int32_t key = example.input[asked], value = example.input[asked + 1];
  example.input.push_back(question);
  example.input.push_back(key);
  example.output.assign(1, value);
}

Generator recall_of(const RecallOptions& options) {
  if (options.pairs > options.keys)
    throw Refused(fmt::format("[task.recall] pairs = {} is above keys = {}, but an example has no key twice; lower "
                              "pairs or raise keys",
                              options.pairs, options.keys));
  Generator recall;
  recall.name = "recall";
  recall.options = recall_option_table().write(options);
  recall.words = number_words(options.keys, "k");
  for (const std::string& word : number_words(options.values, "v")) recall.words.push_back(word);
  recall.words.push_back("?");
  recall.longest_input = 2 * options.pairs + 2;
  recall.longest_output = 1;
  recall.labels = options.values;
  recall.first_label = static_cast<std::int32_t>(options.keys);
  recall.examples = count_examples(options);
  recall.enlarge = "task.recall.pairs, task.recall.keys or task.recall.values";
  recall.draw = [=](RandomSource& random, Example& example) { draw_pairs(random, options, example); };
  recall.chance = [=](bool ends) { return chance_of_label(options.values, "values", ends); };
  make_other_lengths(recall, options, "pairs", &RecallOptions::pairs, recall_of);
  return recall;
}

} // namespace

const TaskInfo task_recall = {
    {.name = "recall",
     .summary = "associative recall: keys with values, then one of the keys, whose value is the target: k2 v0 k7 v3 ? "
                "k2 v0",
     .paper = "Graves, Wayne and Danihelka 2014, Neural Turing Machines, arXiv 1410.5401; Ba et al. 2016, "
              "arXiv 1610.06258",
     .cost = "sequences of 2 pairs + 2 tokens",
     .options = recall_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<recall_option_table, recall_of>};

} // namespace heed
