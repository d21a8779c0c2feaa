// Task `noisy_recall`: pairs of a key and a value, drawn again and again, with pairs of noise tokens between them. The
// target at each repeated key is its value.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heed {

extern const TaskInfo task_noisy_recall;

namespace {

struct NoisyRecallOptions {
  std::int64_t length = 128;
  std::int64_t keys = 8;
  std::int64_t values = 8;
  double noise = 0.2;
  std::int64_t noise_tokens = 16;
};

const OptionTable<NoisyRecallOptions>& noisy_recall_option_table() {
  using O = NoisyRecallOptions;
  static const auto table = option_table<O>(
      option("length", &O::length,
             "the number of tokens of an example, an even number; the last is a value that is only a target")
          .between(4, 4096)
          .unit("tokens"),
      option("keys", &O::keys, "the number of different keys").between(1, 256),
      option("values", &O::values, "the number of different values").between(2, 4096),
      option("noise", &O::noise, "the probability that two noise tokens take the place of a key and its value")
          .at_least(0)
          .below(1),
      option("noise_tokens", &O::noise_tokens, "the number of different noise tokens")
          .between(1, 4096)
          .only_if("task.noisy_recall.noise", {any_value}));
  return table;
}

/// The number of examples. After each place of two tokens, ways[j] is the number of ways to have seen j keys: the place
/// has noise, one of these keys, or a new key and a value. The last key is one of the j.
double count_examples(const NoisyRecallOptions& options) {
  const std::int64_t places = options.length / 2 - 1;
  const auto most = static_cast<std::size_t>(std::min(options.keys, places));
  const double tokens = options.noise > 0 ? static_cast<double>(options.noise_tokens) : 0;
  std::vector<double> ways(most + 1);
  ways[0] = 1;
  for (std::int64_t place = 0; place < places; ++place) {
    for (std::size_t j = most; j > 0; --j) {
      const auto unseen = static_cast<double>(options.keys) - static_cast<double>(j - 1);
      ways[j] = ways[j] * (tokens * tokens + static_cast<double>(j)) +
                ways[j - 1] * unseen * static_cast<double>(options.values);
    }
    ways[0] *= tokens * tokens;
  }
  double count = 0;
  for (std::size_t j = 1; j <= most; ++j) count += static_cast<double>(j) * ways[j];
  return count;
}

/// Draws an example. Keys are the tokens 0 ... keys - 1. Values, then noise tokens follow them. One place, which is
/// drawn, never has noise.
void draw_pairs_in_noise(RandomSource& random, const NoisyRecallOptions& options, Example& example) {
  const auto draw = [&](std::int64_t n) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const auto first_value = static_cast<std::int32_t>(options.keys);
  const auto first_noise = static_cast<std::int32_t>(options.keys + options.values);
  const std::int64_t places = options.length / 2 - 1;
  std::vector<std::int32_t>& scratch = example.scratch; // each key's value or `ignored`, then the keys in order
  scratch.assign(static_cast<std::size_t>(options.keys), ignored);
  example.input.clear();
  example.output.clear();
  const std::int64_t without_noise = draw(places);
  for (std::int64_t place = 0; place < places; ++place) {
    if (options.noise > 0 && place != without_noise && random.uniform() < options.noise) {
      for (int i = 0; i < 2; ++i) example.input.push_back(first_noise + draw(options.noise_tokens));
      example.output.insert(example.output.end(), 2, ignored);
      continue;
    }
    const std::int32_t key = draw(options.keys), known = scratch[static_cast<std::size_t>(key)];
    const std::int32_t value = known == ignored ? first_value + draw(options.values) : known;
    example.input.insert(example.input.end(), {key, value});
    example.output.insert(example.output.end(), {known, ignored});
    if (known != ignored) continue;
    scratch[static_cast<std::size_t>(key)] = value;
    scratch.push_back(key);
  }
  const auto seen = std::ssize(scratch) - options.keys;
  const std::int32_t last = scratch[static_cast<std::size_t>(options.keys + draw(seen))];
  example.input.push_back(last);
  example.output.push_back(scratch[static_cast<std::size_t>(last)]);
}

/// The mean of (1 / values)^n, where n is the number of different keys that are repeated: a guess without the input is
/// right if it is the value of all of them. at[j][n] is the probability that j keys were seen so far, and n of them
/// repeated.
double chance_of_all(const NoisyRecallOptions& options) {
  const std::int64_t places = options.length / 2 - 1;
  const auto most = static_cast<std::size_t>(std::min(options.keys, places));
  const auto keys = static_cast<double>(options.keys);
  const double pair = 1 - options.noise;
  std::vector<std::vector<double>> at(most + 1, std::vector<double>(most + 1));
  at[1][0] = 1; // the place that never has noise; the order of noise and pairs changes no probability
  for (std::int64_t place = 1; place < places; ++place)
    for (std::size_t j = most; j > 0; --j)
      for (std::size_t n = j + 1; n-- > 0;) {
        const auto seen = static_cast<double>(j), repeated = static_cast<double>(n);
        at[j][n] *= options.noise + pair * repeated / keys;
        at[j][n] += pair * at[j - 1][n] * (keys - seen + 1) / keys;
        if (n > 0) at[j][n] += pair * at[j][n - 1] * (seen - repeated + 1) / keys;
      }
  double sum = 0;
  for (std::size_t j = 1; j <= most; ++j) {
    double all = 1; // (1 / values)^n
    for (std::size_t n = 0; n <= j; ++n, all /= static_cast<double>(options.values)) {
      const double again = static_cast<double>(n) / static_cast<double>(j); // the last key was repeated before
      sum += at[j][n] * all * (again + (1 - again) / static_cast<double>(options.values));
    }
  }
  return sum;
}

Generator noisy_recall_of(const NoisyRecallOptions& options) {
  if (options.length % 2 == 1)
    throw Refused(
        fmt::format("[task.noisy_recall] length = {} is odd, but a key and its value take two tokens; take {} "
                    "or {}",
                    options.length, options.length - 1, options.length + 1));
  Generator recall;
  recall.name = "noisy_recall";
  recall.options = noisy_recall_option_table().write(options);
  recall.words = number_words(options.keys, "k");
  for (const std::string& word : number_words(options.values, "v")) recall.words.push_back(word);
  for (const std::string& word : number_words(options.noise > 0 ? options.noise_tokens : 0, "n"))
    recall.words.push_back(word);
  recall.longest_input = options.length - 1;
  recall.places = true;
  recall.examples = count_examples(options);
  recall.exact = true;
  recall.enlarge = "task.noisy_recall.length, task.noisy_recall.keys or task.noisy_recall.values";
  recall.draw = [=](RandomSource& random, Example& example) { draw_pairs_in_noise(random, options, example); };
  recall.chance = [=](bool) {
    Task::Chance chance = chance_of_label(options.values, "values", false);
    chance.sequence = Task::Level{chance_of_all(options),
                                  "the mean of (1 / values)^(different keys that are repeated)"};
    return chance;
  };
  make_other_lengths(recall, options, "length", &NoisyRecallOptions::length, noisy_recall_of);
  return recall;
}

} // namespace

const TaskInfo task_noisy_recall = {
    {.name = "noisy_recall",
     .summary =
         "associative recall in noise: keys with values, drawn again and again among noise tokens; each repeated "
         "key has its value as the target: k1 v4 n3 n7 k0 v2 k1 v4 k0 has the targets v4 at the second k1 and v2 "
         "at the second k0",
     .paper = "Poli et al. 2024, MAD, arXiv 2403.17844 (noisy in-context recall: the default values, and 12,800 "
              "training sequences; there, training predicts every next token)",
     .cost = "sequences of length - 1 tokens, with a target at each key except at its first place",
     .options = noisy_recall_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<noisy_recall_option_table, noisy_recall_of>};

} // namespace heed
