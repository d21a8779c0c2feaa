// Task `mqar` (multi-query associative recall): pairs of a key and a value, then each key again at a random distance.
// The target at each repeated key is its value, the last one if the key had several.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace heed {

extern const TaskInfo task_mqar;

namespace {

struct MqarOptions {
  std::int64_t pairs = 8;
  std::int64_t min_pairs = 0;
  std::int64_t updates = 0;
  std::int64_t length = 64;
  std::int64_t vocabulary = 256;
  double power = 0.1;
  std::string filler = "random";
};

const OptionTable<MqarOptions>& mqar_option_table() {
  static const auto table = option_table<MqarOptions>(
      option("pairs", &MqarOptions::pairs,
             "the number of keys, each with its value, at the start of an example; each is queried once")
          .between(1, 2048)
          .unit("pairs"),
      option("min_pairs", &MqarOptions::min_pairs, "the fewest keys of an example")
          .between(0, 2048)
          .unit("pairs")
          .default_means("0: as many as pairs"),
      option("updates", &MqarOptions::updates,
             "the number of keys that get a second value, in further pairs at random places among the others; the "
             "target is the last value")
          .between(0, 2048)
          .unit("pairs"),
      option("length", &MqarOptions::length, "the number of tokens of an example").between(4, 8192).unit("tokens"),
      option("vocabulary", &MqarOptions::vocabulary,
             "the number of different keys and values: half are keys, half are values; filler = \"blank\" has one more "
             "token")
          .between(4, 65536),
      option(
          "power", &MqarOptions::power,
          "a key is queried at place s with a probability proportional to s^(power - 1): 1 is uniform, smaller values "
          "prefer places near the pairs")
          .between(0, 1),
      option("filler", &MqarOptions::filler,
             "the tokens between the queries: random keys and values, but no key of the example, or one blank token")
          .one_of({"random", "blank"}));
  return table;
}

/// n (n - 1) ... (n - k + 1)
double falling(std::int64_t n, std::int64_t k) {
  double product = 1;
  for (std::int64_t i = 0; i < k; ++i) product *= static_cast<double>(n - i);
  return product;
}

/// The parameters with which examples are drawn.
struct Sequences {
  /// Keys are the tokens 0 ... half - 1. Values are the tokens half ... 2 half - 1. A blank is the token 2 half.
  std::int64_t fewest = 0, most = 0, updates = 0, length = 0, half = 0;
  bool blank = false;
  std::vector<std::uint64_t> weights; ///< integer weights of the places for the repeated keys

  explicit Sequences(const MqarOptions& options)
      : fewest(options.min_pairs == 0 ? options.pairs : options.min_pairs), most(options.pairs),
        updates(options.updates), length(options.length), half(options.vocabulary / 2),
        blank(options.filler == "blank") {
    for (std::int64_t s = 1; s <= slots(fewest); ++s)
      weights.push_back(static_cast<std::uint64_t>(std::llround(0x1p32 *
                                                                std::pow(static_cast<double>(s), options.power - 1))));
  }

  /// The number of places for the repeated keys, if there are so many keys: every second token after the pairs.
  std::int64_t slots(std::int64_t keys) const { return length / 2 - keys - updates; }

  /// If the number of pairs varies, the token after them is no further key. So the input determines where they end.
  bool marks_end() const { return fewest < most && !blank; }

  /// The number of examples with so many keys: ordered keys and values, the pairs that are updates, the places of the
  /// repeated keys, and the other tokens.
  double count(std::int64_t keys) const {
    const std::int64_t pairs = keys + updates, others = length - 2 * pairs - keys, places = slots(keys);
    double count = falling(half, keys) * falling(half, pairs);
    // `updates` keys have two pairs each: pairs! / ((keys - updates)! updates! 2^updates) ways.
    for (std::int64_t i = 0; i < updates; ++i)
      count *= static_cast<double>((pairs - 2 * i) * (pairs - 2 * i - 1)) / static_cast<double>(2 * (i + 1));
    if (blank) return count * falling(places, keys);
    const auto tokens = [&](std::int64_t n) {
      return std::pow(static_cast<double>(2 * half - keys), static_cast<double>(n));
    };
    if (!marks_end()) return count * falling(places, keys) * tokens(others);
    // The first of the places has a query, or it has a value.
    double endings = static_cast<double>(keys) * falling(places - 1, keys - 1) * tokens(others);
    if (places > keys) endings += falling(places - 1, keys) * static_cast<double>(half) * tokens(others - 1);
    return count * endings;
  }
  double count() const {
    double sum = 0;
    for (std::int64_t keys = fewest; keys <= most; ++keys) sum += count(keys);
    return sum;
  }

  void draw(RandomSource& random, Example& example) const {
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
    };
    const std::int64_t keys = fewest == most ? most : fewest + below(most - fewest + 1);
    const auto n = static_cast<std::size_t>(length), pairs = static_cast<std::size_t>(keys + updates);
    example.input.resize(n);
    example.output.assign(n, ignored);
    std::vector<std::int32_t>& order = example.scratch;
    draw_different(random, half, keys + updates, order); // values
    for (std::size_t i = 0; i < pairs; ++i) example.input[2 * i + 1] = order[i] + static_cast<std::int32_t>(half);
    draw_different(random, half, keys, order); // keys; after them, the keys that the example does not use
    draw_fillers(random, keys, 2 * pairs, order, example.input);
    for (std::size_t i = 0; i < pairs; ++i)
      example.input[2 * i] = order[i < static_cast<std::size_t>(keys) ? i : i - static_cast<std::size_t>(keys)];
    if (updates > 0)
      for (std::size_t i = pairs - 1; i > 0; --i)
        std::swap(example.input[2 * i],
                  example.input[2 * static_cast<std::size_t>(below(static_cast<std::int64_t>(i) + 1))]);
    draw_queries(random, keys, pairs, example);
  }

private:
  /// Draws the tokens from place `begin` on. `order` has the example's keys, then all others.
  void draw_fillers(RandomSource& random, std::int64_t keys, std::size_t begin, const std::vector<std::int32_t>& order,
                    std::vector<std::int32_t>& input) const {
    if (blank) {
      std::fill(input.begin() + static_cast<std::ptrdiff_t>(begin), input.end(), static_cast<std::int32_t>(2 * half));
      return;
    }
    const auto draw = [&](std::int64_t from) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * half - from))) + from;
    };
    for (std::size_t place = begin; place < input.size(); ++place) {
      const std::int64_t other = draw(place == begin && marks_end() ? half : keys);
      input[place] = other < half ? order[static_cast<std::size_t>(other)] : static_cast<std::int32_t>(other);
    }
  }

  /// Repeats each key at a place of its own, with the value of its last pair as the target.
  void draw_queries(RandomSource& random, std::int64_t keys, std::size_t pairs, Example& example) const {
    std::uint64_t total = std::accumulate(weights.begin(), weights.begin() + slots(keys), std::uint64_t{0});
    for (std::int64_t i = 0; i < keys; ++i) {
      const std::int32_t key = example.scratch[static_cast<std::size_t>(i)];
      std::size_t last = updates == 0 ? static_cast<std::size_t>(i) : pairs - 1;
      while (example.input[2 * last] != key) --last;
      // Draws a free place with probability proportional to its weight.
      std::uint64_t left = random.below(total);
      std::size_t slot = 0;
      const auto place = [&] { return 2 * (pairs + slot); };
      for (;; ++slot) {
        if (example.output[place()] != ignored) continue;
        if (left < weights[slot]) break;
        left -= weights[slot];
      }
      total -= weights[slot];
      example.input[place()] = key;
      example.output[place()] = example.input[2 * last + 1];
    }
  }
};

void check(const MqarOptions& options) {
  const std::int64_t fewest = options.min_pairs == 0 ? options.pairs : options.min_pairs;
  const std::int64_t written = options.pairs + options.updates, half = options.vocabulary / 2;
  const std::string updates = options.updates == 0 ? "" : fmt::format(" and updates = {}", options.updates);
  if (options.vocabulary % 2 == 1)
    throw Refused(fmt::format("[task.mqar] vocabulary = {} is odd; half of the tokens are keys and half are values, so "
                              "take {} or {}",
                              options.vocabulary, options.vocabulary - 1, options.vocabulary + 1));
  if (options.min_pairs > options.pairs)
    throw Refused(
        fmt::format("[task.mqar] min_pairs = {0} is above pairs = {1}; it may be 1 to {1}, or 0 (as many as pairs)",
                    options.min_pairs, options.pairs));
  if (options.updates > fewest)
    throw Refused(fmt::format("[task.mqar] updates = {} is above {} = {}, but a key gets at most one further value; "
                              "lower updates to {}",
                              options.updates, options.min_pairs == 0 ? "pairs" : "min_pairs", fewest, fewest));
  if (options.pairs > half)
    throw Refused(fmt::format("[task.mqar] pairs = {} is above {}, half of vocabulary = {}, but an example has no key "
                              "twice; lower pairs or raise vocabulary",
                              options.pairs, half, options.vocabulary));
  if (written > half)
    throw Refused(fmt::format("[task.mqar] pairs = {}{} need {} different values, but vocabulary = {} has {}; raise "
                              "vocabulary to {}, or lower pairs or updates",
                              options.pairs, updates, written, options.vocabulary, half, 2 * written));
  if (2 * (written + options.pairs) > options.length)
    throw Refused(fmt::format("[task.mqar] length = {} is too short for pairs = {}{}: each pair and each query takes "
                              "two tokens; raise length "
                              "to {}, or lower {}",
                              options.length, options.pairs, updates, 2 * (written + options.pairs),
                              options.updates == 0 ? fmt::format("pairs to {}", options.length / 4)
                                                   : "pairs or updates"));
}

/// Values are uniform over half of the vocabulary. The values of an example are distinct.
Task::Chance chance_of_values(std::int64_t values, const Sequences& sequences) {
  Task::Chance chance = chance_of_label(values, "values", false);
  const bool varied = sequences.fewest < sequences.most;
  double sum = 0;
  for (std::int64_t keys = sequences.fewest; keys <= sequences.most; ++keys) sum += 1 / falling(values, keys);
  chance.sequence = Task::Level{sum / static_cast<double>(sequences.most - sequences.fewest + 1),
                                fmt::format("{}1 / (values (values - 1) ...), a factor for each {}",
                                            varied ? "the mean over the numbers of keys of " : "",
                                            varied || sequences.updates > 0 ? "key" : "pair")};
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
  if (sequences.blank) mqar.words.push_back(".");
  mqar.longest_input = options.length;
  mqar.places = true;
  mqar.examples = sequences.count();
  mqar.exact = true;
  mqar.enlarge = "task.mqar.length or task.mqar.vocabulary";
  mqar.draw = [sequences](RandomSource& random, Example& example) { sequences.draw(random, example); };
  mqar.chance = [=](bool) { return chance_of_values(options.vocabulary / 2, sequences); };
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
              "tokens, power = 0.01, filler = \"blank\"; here a blank is a token more, and random fillers are never "
              "keys of the example; their task of updated keys has all updates after the other pairs)",
     .cost = "sequences of length tokens, with a target for each key",
     .options = mqar_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<mqar_option_table, mqar_of>};

} // namespace heed
