// Task `mqar` (multi-query associative recall): pairs of a key and a value, then each key again at a random distance.
// The target at each repeated key is its value.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace heed {

extern const TaskInfo task_mqar;

namespace {

struct MqarOptions {
  std::int64_t pairs = 8;
  std::int64_t length = 64;
  std::int64_t vocabulary = 256;
  double power = 0.1;
};

const OptionTable<MqarOptions>& mqar_option_table() {
  static const auto table = option_table<MqarOptions>(
      option("pairs", &MqarOptions::pairs,
             "the number of keys, each with its value, at the start of an example; each is queried once")
          .between(1, 2048)
          .unit("pairs"),
      option("length", &MqarOptions::length, "the number of tokens of an example").between(4, 8192).unit("tokens"),
      option("vocabulary", &MqarOptions::vocabulary, "the number of different tokens: half are keys, half are values")
          .between(4, 65536),
      option(
          "power", &MqarOptions::power,
          "a key is queried at place s with a probability proportional to s^(power - 1): 1 is uniform, smaller values "
          "prefer places near the pairs")
          .between(0, 1));
  return table;
}

/// The parameters with which examples are drawn.
struct Sequences {
  /// Keys are the tokens 0 ... half - 1. Values are the tokens half ... 2 half - 1.
  std::int64_t pairs = 0, length = 0, half = 0;
  std::vector<std::uint64_t> weights; ///< integer weights of the places for the repeated keys

  explicit Sequences(const MqarOptions& options)
      : pairs(options.pairs), length(options.length), half(options.vocabulary / 2) {
    for (std::int64_t s = 1; s <= (length - 2 * pairs) / 2; ++s)
      weights.push_back(static_cast<std::uint64_t>(std::llround(0x1p32 *
                                                                std::pow(static_cast<double>(s), options.power - 1))));
  }

  /// The number of examples: ordered keys and values, the places of the repeated keys, and the other tokens.
  double count() const {
    double count = 1;
    for (std::int64_t i = 0; i < pairs; ++i)
      count *= static_cast<double>(half - i) * static_cast<double>(half - i) *
               static_cast<double>(std::ssize(weights) - i);
    return count * std::pow(static_cast<double>(2 * half - pairs), static_cast<double>(length - 3 * pairs));
  }

  void draw(RandomSource& random, Example& example) const {
    const auto n = static_cast<std::size_t>(length);
    example.input.resize(n);
    example.output.assign(n, ignored);
    std::vector<std::int32_t>& order = example.scratch;
    draw_different(random, half, pairs, order); // values
    for (std::int64_t i = 0; i < pairs; ++i)
      example.input[static_cast<std::size_t>(2 * i + 1)] = order[static_cast<std::size_t>(i)] +
                                                           static_cast<std::int32_t>(half);
    draw_different(random, half, pairs, order); // keys; after them, the keys that the example does not use
    for (auto place = static_cast<std::size_t>(2 * pairs); place < n; ++place) {
      const auto other = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * half - pairs))) + pairs;
      example.input[place] = other < half ? order[static_cast<std::size_t>(other)] : static_cast<std::int32_t>(other);
    }
    std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto key = static_cast<std::size_t>(2 * i);
      example.input[key] = order[static_cast<std::size_t>(i)];
      // Draws a free place with probability proportional to its weight.
      std::uint64_t left = random.below(total);
      std::size_t slot = 0;
      const auto place = [&] { return 2 * (static_cast<std::size_t>(pairs) + slot); };
      for (;; ++slot) {
        if (example.output[place()] != ignored) continue;
        if (left < weights[slot]) break;
        left -= weights[slot];
      }
      total -= weights[slot];
      example.input[place()] = example.input[key];
      example.output[place()] = example.input[key + 1];
    }
  }
};

void check(const MqarOptions& options) {
  if (options.vocabulary % 2 == 1)
    throw Refused(fmt::format("[task.mqar] vocabulary = {} is odd; half of the tokens are keys and half are values, so "
                              "take {} or {}",
                              options.vocabulary, options.vocabulary - 1, options.vocabulary + 1));
  if (options.pairs > options.vocabulary / 2)
    throw Refused(fmt::format("[task.mqar] pairs = {} is above {}, half of vocabulary = {}, but an example has no key "
                              "twice; lower pairs or raise vocabulary",
                              options.pairs, options.vocabulary / 2, options.vocabulary));
  if (4 * options.pairs > options.length)
    throw Refused(
        fmt::format("[task.mqar] length = {} is too short for pairs = {}: each pair and each query takes two tokens; "
                    "raise length to {}, or lower pairs to {}",
                    options.length, options.pairs, 4 * options.pairs, options.length / 4));
}

/// Values are uniform over half of the vocabulary. The values of an example are distinct.
Task::Chance chance_of_values(std::int64_t values, std::int64_t pairs) {
  Task::Chance chance = chance_of_label(values, "values", false);
  double all_right = 1;
  for (std::int64_t i = 0; i < pairs; ++i) all_right /= static_cast<double>(values - i);
  chance.sequence = Task::Level{all_right, "1 / (values (values - 1) ...), a factor for each pair"};
  return chance;
}

Generator mqar_of(const MqarOptions& options) {
  check(options);
  const Sequences sequences(options);
  Generator mqar;
  mqar.name = "mqar";
  mqar.options = mqar_option_table().write(options);
  mqar.words = number_words(sequences.half, "k");
  for (const std::string& word : number_words(sequences.half, "v")) mqar.words.push_back(word);
  mqar.longest_input = options.length;
  mqar.places = true;
  mqar.examples = sequences.count();
  mqar.enlarge = "task.mqar.length or task.mqar.vocabulary";
  mqar.draw = [sequences](RandomSource& random, Example& example) { sequences.draw(random, example); };
  mqar.chance = [=](bool) { return chance_of_values(options.vocabulary / 2, options.pairs); };
  make_other_lengths(mqar, options, "length", &MqarOptions::length, mqar_of);
  return mqar;
}

} // namespace

const TaskInfo task_mqar = {
    {.name = "mqar",
     .summary =
         "multi-query associative recall: keys with values, then each key again among other tokens, with its value as "
         "the target: k2 v0 k7 v3 k7 v5 k2 k1 has the targets v3 at the second k7 and v0 at the second k2",
     .paper = "Arora et al. 2023, Zoology, arXiv 2312.04927 (their figure 2: 4 to 64 pairs, lengths of 64 to 512, 8192 "
              "tokens; here the other tokens are never keys of the sequence)",
     .cost = "sequences of length tokens, with pairs targets",
     .options = mqar_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<mqar_option_table, mqar_of>};

} // namespace heed
