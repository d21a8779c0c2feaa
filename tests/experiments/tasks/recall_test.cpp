// Tests of recall as research on sequence mixers needs it: updated keys, blanks and varied numbers of pairs (mqar),
// symbols to remember in noise (selective_copy), and repeated pairs in noise (noisy_recall). The tests read targets
// again from the inputs, and find all examples of small tasks by trying all sequences of tokens.
#include "experiments/tasks/task_survey.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/places_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

/// Calls `each` with all sequences of `length` of the tokens 0 ... tokens - 1.
void each_string(int tokens, std::size_t length, const std::function<void(const Tokens&)>& each) {
  Tokens string(length, 0);
  for (bool more = true; more;) {
    each(string);
    std::size_t digit = 0;
    while (digit < length && ++string[digit] == tokens) string[digit++] = 0;
    more = digit < length;
  }
}

OptionValues with(OptionValues options, const char* name, Value value) {
  options[name] = std::move(value);
  return options;
}

/// The share of the commonest entry.
template <class Key> double commonest(const std::map<Key, double>& weights) {
  double most = 0, all = 0;
  for (const auto& [key, weight] : weights) {
    most = std::max(most, weight);
    all += weight;
  }
  return most / all;
}

/// Whether a count of `draws` fits a probability: within five standard errors.
bool fits(double count, double draws, double p) {
  return std::abs(count / draws - p) < 5 * std::sqrt(p * (1 - p) / draws);
}

std::string note_of(const Task& task) { return task.facts().notes.front(); }
std::string note_of_count(std::size_t count) {
  return fmt::format("there are about {:.3g} different examples in all", static_cast<double>(count));
}

/// Checks that the task's examples are `all`: each sequence that it draws is one of them, and each of them is drawn.
/// Other seeds of the task leave other examples to training.
void check_examples(Config config, const std::map<Tokens, Tokens>& all) {
  config.task.validation = config.task.test = 4; // few exist
  std::set<Tokens> seen;
  for (config.task.seed = 0; config.task.seed < 10; ++config.task.seed) {
    const auto task = make_task(config);
    CHECK(note_of(*task) == note_of_count(all.size()));
    for (std::int64_t i = 0; i < 20 * std::ssize(all); ++i) {
      const Sequence sequence = training_sequence(*task, lm, 9, i, 0);
      const auto found = all.find(sequence.tokens);
      REQUIRE(found != all.end());
      CHECK(sequence.targets == found->second);
      seen.insert(sequence.tokens);
    }
  }
  CHECK(seen.size() == all.size());
}

struct Mqar {
  int pairs, min_pairs, updates, length, vocabulary;
  bool blank;
  int fewest() const { return min_pairs == 0 ? pairs : min_pairs; }
  OptionValues options() const {
    return with(whole_numbers({{"pairs", pairs},
                               {"min_pairs", min_pairs},
                               {"updates", updates},
                               {"length", length},
                               {"vocabulary", vocabulary}}),
                "filler", std::string(blank ? "blank" : "random"));
  }
};

/// Checks that words are an example, from its tokens only, and returns the number of its keys.
std::size_t check_mqar(const Mqar& task, const Words& sequence) {
  INFO(joined(sequence.tokens));
  REQUIRE(sequence.tokens.size() == static_cast<std::size_t>(task.length));
  std::map<std::string, std::string> value_of;
  std::set<std::string> values;
  int again = 0;
  std::size_t at = 0;
  // The pairs end where the token is no key, or would be a key too often.
  for (;; at += 2) {
    const std::string& key = sequence.tokens[at];
    if (key.front() != 'k') break;
    if (value_of.contains(key) && ++again > task.updates) break;
    if (task.min_pairs == 0 && at == static_cast<std::size_t>(2 * (task.pairs + task.updates))) break;
    CHECK(sequence.tokens[at + 1].front() == 'v');
    CHECK(values.insert(sequence.tokens[at + 1]).second);
    value_of[key] = sequence.tokens[at + 1];
  }
  CHECK(values.size() == value_of.size() + static_cast<std::size_t>(task.updates));
  std::set<std::string> asked;
  for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
    const bool question = i >= at && value_of.contains(sequence.tokens[i]);
    CHECK(sequence.targets[i] == (question ? value_of[sequence.tokens[i]] : "_"));
    if (question) CHECK((i % 2 == 0 && asked.insert(sequence.tokens[i]).second));
    else if (i >= at && task.blank) CHECK(sequence.tokens[i] == ".");
  }
  CHECK(asked.size() == value_of.size());
  return value_of.size();
}

/// All examples: the pairs, then the rest, each by trying all sequences of tokens.
std::map<Tokens, Tokens> all_of_mqar(const Mqar& task) {
  const int half = task.vocabulary / 2, tokens = task.vocabulary + (task.blank ? 1 : 0);
  std::map<Tokens, Tokens> all;
  for (int keys = task.fewest(); keys <= task.pairs; ++keys) {
    const auto begin = static_cast<std::size_t>(2 * (keys + task.updates));
    each_string(task.vocabulary, begin, [&](const Tokens& head) {
      std::map<std::int32_t, std::int32_t> value_of;
      std::map<std::int32_t, int> times;
      std::set<std::int32_t> values;
      for (std::size_t i = 0; i < begin; i += 2) {
        if (head[i] >= half || head[i + 1] < half) return;
        value_of[head[i]] = head[i + 1];
        if (++times[head[i]] > 2) return;
        values.insert(head[i + 1]);
      }
      if (value_of.size() != static_cast<std::size_t>(keys) || 2 * values.size() != begin) return;
      each_string(tokens, static_cast<std::size_t>(task.length) - begin, [&](const Tokens& tail) {
        Tokens targets(static_cast<std::size_t>(task.length), ignored);
        std::set<std::int32_t> asked;
        for (std::size_t i = 0; i < tail.size(); ++i) {
          if (value_of.contains(tail[i])) {
            if (i % 2 == 1 || i + 1 == tail.size() || !asked.insert(tail[i]).second) return;
            targets[begin + i] = value_of[tail[i]];
          } else if (task.blank ? tail[i] != task.vocabulary : i == 0 && task.fewest() < task.pairs && tail[i] < half) {
            return;
          }
        }
        if (asked.size() != value_of.size()) return;
        Tokens input = head;
        input.insert(input.end(), tail.begin(), tail.end());
        CHECK(all.emplace(input, targets).second); // no input has two readings
      });
    });
  }
  return all;
}

} // namespace

TEST_CASE("mqar with updates, blanks and several numbers of pairs: the last value of each key is its target",
          "[tasks][mqar]") {
  for (const Mqar& task : {Mqar{8, 4, 0, 64, 256, false}, Mqar{8, 4, 3, 64, 256, false}, Mqar{4, 0, 4, 29, 16, false},
                           Mqar{4, 2, 2, 24, 12, true}, Mqar{3, 0, 0, 12, 12, true}, Mqar{4, 0, 0, 64, 8192, true},
                           Mqar{5, 1, 1, 40, 12, false}}) {
    const Config config = small_config("mqar", task.options());
    check_contract(config);
    std::set<std::size_t> keys;
    for (const Words& sequence : sequences_of(*make_task(config))) keys.insert(check_mqar(task, sequence));
    CHECK(*keys.begin() == static_cast<std::size_t>(task.fewest()));
    CHECK(*keys.rbegin() == static_cast<std::size_t>(task.pairs));
    CHECK(keys.size() == static_cast<std::size_t>(task.pairs - task.fewest() + 1));
  }
}

TEST_CASE("mqar's examples are all that its definition allows, each with one reading", "[tasks][mqar]") {
  for (const Mqar& task : {Mqar{2, 1, 0, 8, 4, false}, Mqar{1, 0, 1, 9, 4, false}, Mqar{2, 0, 1, 10, 6, true},
                           Mqar{2, 1, 1, 10, 6, true}, Mqar{1, 0, 0, 6, 4, false}, Mqar{2, 1, 0, 8, 6, true}}) {
    OptionValues options = task.options();
    INFO(task.pairs << " " << task.min_pairs << " " << task.updates << " " << task.length);
    const auto all = all_of_mqar(task);
    options["power"] = 1.0;
    check_examples(task_config("mqar", options), all);
  }
}

TEST_CASE("mqar counts examples that are too many to try: the numbers by hand", "[tasks][mqar]") {
  const auto note = [](const Mqar& task) { return note_of(*make_task(task_config("mqar", task.options()))); };
  // Two of three keys in 6 orders, three ways to repeat one of them in three pairs, 6 orders of three values; of the
  // last six tokens, three are places for two questions.
  CHECK(note({2, 0, 1, 12, 6, true}) == note_of_count(6 * 3 * 6 * (3 * 2)));
  // The same with four tokens that are not the two keys.
  CHECK(note({2, 0, 1, 12, 6, false}) == note_of_count(6 * 3 * 6 * (3 * 2) * 4 * 4 * 4 * 4));
  // One pair of 4 keys and 4 values; 8 tokens after it, and 4 places: 7 others at the first place's question, of 7
  // tokens; else the first place has one of 4 values. Two pairs: 12 orders of keys, 12 of values, 6 tokens, 3 places.
  const double one = 4 * 4 * (std::pow(7, 7) + 3 * 4 * std::pow(7, 6));
  const double two = 12 * 12 * (2 * 2 * std::pow(6, 4) + 2 * 4 * std::pow(6, 3));
  CHECK(note({2, 1, 0, 10, 8, false}) == fmt::format("there are about {:.3g} different examples in all", one + two));
  // Also where the number is beyond that of a double.
  CHECK_THAT(note({256, 0, 256, 2048, 1024, true}), Contains("about inf"));
  CHECK_THAT(note({256, 200, 100, 2048, 1024, false}), Contains("about inf"));
}

TEST_CASE("mqar's numbers of pairs and places of updates are evenly spread, and its questions follow the power law",
          "[tasks][mqar]") {
  const Mqar options{3, 1, 1, 24, 40, false};
  const auto task = make_task(task_config("mqar", with(options.options(), "power", 0.5)));
  constexpr int draws = 30000;
  std::map<std::size_t, double> keys, slots, firsts;
  std::map<std::pair<std::size_t, std::size_t>, double> updates;
  double threes = 0;
  for (std::int64_t i = 0; i < draws; ++i) {
    const Words words = words_of(*task, training_sequence(*task, lm, 1, i, 0));
    std::size_t count = 0;
    for (const std::string& target : words.targets) count += target != "_";
    ++keys[count];
    const std::size_t pairs = count + 1;
    if (count == 1)
      for (std::size_t at = 2 * pairs; at < words.tokens.size(); at += 2)
        slots[at / 2 - pairs] += words.targets[at] != "_";
    if (count < 3) continue;
    ++threes;
    for (std::size_t b = 0; b < pairs; ++b)
      for (std::size_t a = 0; a < b; ++a) updates[{a, b}] += words.tokens[2 * a] == words.tokens[2 * b];
  }
  REQUIRE(keys.size() == 3);
  for (const auto& [count, times] : keys) CHECK(fits(times, draws, 1.0 / 3));
  REQUIRE(updates.size() == 6);
  for (const auto& [places, times] : updates) CHECK(fits(times, threes, 1.0 / 6));
  REQUIRE(slots.size() == 10);
  double all = 0;
  for (int s = 1; s <= 10; ++s) all += 1 / std::sqrt(s);
  for (const auto& [slot, times] : slots)
    CHECK(fits(times, keys[1], 1 / std::sqrt(static_cast<double>(slot + 1)) / all));
}

TEST_CASE("mqar's chance is what the best guesser reaches who knows the number of keys, over all examples",
          "[tasks][mqar]") {
  for (const Mqar& task : {Mqar{2, 1, 1, 10, 6, true}, Mqar{2, 0, 1, 10, 6, true}, Mqar{2, 1, 0, 8, 4, false}}) {
    std::map<std::size_t, std::map<Tokens, double>> targets;
    for (const auto& [input, output] : all_of_mqar(task)) {
      Tokens those;
      std::ranges::copy_if(output, std::back_inserter(those), [](std::int32_t t) { return t != ignored; });
      ++targets[those.size()][those];
    }
    double all_right = 0;
    for (const auto& [keys, weights] : targets) all_right += commonest(weights) / static_cast<double>(targets.size());
    const auto chance = make_task(task_config("mqar", task.options()))->chance(lm);
    CHECK(chance.accuracy == Approx(2.0 / task.vocabulary));
    CHECK(chance.sequence->value == Approx(all_right));
    CHECK(chance.loss->value == Approx(std::log(task.vocabulary / 2.0)));
  }
}

TEST_CASE("mqar's new options change nothing at their defaults", "[tasks][mqar]") {
  const auto plain = make_task(task_config("mqar"));
  CHECK(plain->fingerprint() == "mqar 1: default options; seed = 0, validation = 512, test = 512");
  CHECK(plain->sizes(lm).vocabulary == 256);
  CHECK(make_task(task_config("mqar", with({}, "filler", std::string("blank"))))->sizes(lm).vocabulary == 257);
  // As many pairs in each example, in other words.
  const auto same = make_task(task_config("mqar", whole_numbers({{"min_pairs", 8}})));
  for (std::int64_t i = 0; i < 20; ++i)
    CHECK(training_sequence(*plain, lm, 3, i, 0) == training_sequence(*same, lm, 3, i, 0));
}

TEST_CASE("mqar says which pairs, updates and lengths can't be", "[tasks][mqar]") {
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("mqar", std::move(options))); });
  };
  CHECK(message(whole_numbers({{"min_pairs", 9}})) ==
        "[task.mqar] min_pairs = 9 is above pairs = 8; it may be 1 to 8, or 0 (as many as pairs)");
  CHECK(message(whole_numbers({{"updates", 9}})) ==
        "[task.mqar] updates = 9 is above pairs = 8, but a key gets at most one further value; lower updates to 8");
  CHECK_THAT(message(whole_numbers({{"updates", 3}, {"min_pairs", 2}})),
             Contains("updates = 3 is above min_pairs = 2") && Contains("lower updates to 2"));
  CHECK(message(whole_numbers({{"updates", 4}, {"vocabulary", 20}})) ==
        "[task.mqar] pairs = 8 and updates = 4 need 12 different values, but vocabulary = 20 has 10; raise vocabulary "
        "to 24, or lower pairs or updates");
  CHECK(
      message(whole_numbers({{"updates", 8}, {"length", 40}})) ==
      "[task.mqar] length = 40 is too short for pairs = 8 and updates = 8: each pair and each query takes two tokens; "
      "raise length to 48, or lower pairs or updates");
  CHECK(message(whole_numbers({{"updates", 8}, {"length", 48}})) == "(not refused)");
}

TEST_CASE("selective_copy has symbols in noise, and they are the targets of the markers, in order",
          "[tasks][selective_copy]") {
  struct Case {
    OptionValues options;
    std::size_t length, copied, symbols, noise;
  };
  for (const Case& c :
       {Case{{}, 256, 16, 14, 1},
        Case{whole_numbers({{"length", 21}, {"copied", 5}, {"symbols", 3}, {"noise_tokens", 4}}), 21, 5, 3, 4},
        Case{whole_numbers({{"length", 16}, {"copied", 8}, {"symbols", 6}}), 16, 8, 6, 1}}) {
    const Config config = small_config("selective_copy", c.options);
    check_contract(config);
    const auto task = make_task(config);
    CHECK(task->sizes(lm).vocabulary == static_cast<std::int64_t>(c.symbols + c.noise + 1));
    for (const Words& words : sequences_of(*task)) {
      INFO(joined(words.tokens));
      REQUIRE(words.tokens.size() == c.length);
      std::vector<std::string> symbols;
      for (std::size_t i = 0; i < c.length; ++i) {
        const std::string& token = words.tokens[i];
        const bool marker = i >= c.length - c.copied, noise = token.front() == (c.noise == 1 ? '.' : 'n');
        CHECK((token == "|") == marker);
        if (!marker && !noise) symbols.push_back(token);
        REQUIRE(symbols.size() <= c.copied);
        CHECK(words.targets[i] == (marker ? symbols[i + c.copied - c.length] : "_"));
      }
      CHECK(symbols.size() == c.copied);
    }
  }
}

TEST_CASE("selective_copy's examples are all that its definition allows, and their chance, by trying all",
          "[tasks][selective_copy]") {
  struct Case {
    int length, copied, symbols, noise;
  };
  for (const Case& c : {Case{9, 2, 4, 1}, Case{7, 2, 2, 2}, Case{7, 3, 5, 1}, Case{8, 4, 4, 3}}) {
    std::map<Tokens, Tokens> all;
    std::map<Tokens, double> answers;
    const int places = c.length - c.copied;
    each_string(c.symbols + c.noise, static_cast<std::size_t>(places), [&](const Tokens& tokens) {
      Tokens input = tokens, output(static_cast<std::size_t>(places), ignored), symbols;
      std::ranges::copy_if(tokens, std::back_inserter(symbols), [&](std::int32_t t) { return t < c.symbols; });
      if (std::ssize(symbols) != c.copied) return;
      input.insert(input.end(), symbols.size(), c.symbols + c.noise);
      output.insert(output.end(), symbols.begin(), symbols.end());
      all.emplace(input, output);
      ++answers[symbols];
    });
    const Config config = task_config(
        "selective_copy",
        whole_numbers({{"length", c.length}, {"copied", c.copied}, {"symbols", c.symbols}, {"noise_tokens", c.noise}}));
    check_examples(config, all);
    const Task::Chance chance = make_task(config)->chance(lm);
    CHECK(chance.accuracy == Approx(1.0 / c.symbols));
    CHECK(chance.sequence->value == Approx(commonest(answers)));
    CHECK(chance.loss->value == Approx(std::log(c.symbols)));
  }
}

TEST_CASE("selective_copy's sets of places, symbols and noise are evenly spread", "[tasks][selective_copy]") {
  const auto task = make_task(task_config(
      "selective_copy", whole_numbers({{"length", 8}, {"copied", 3}, {"symbols", 5}, {"noise_tokens", 7}})));
  std::map<std::set<std::size_t>, double> sets;
  std::map<std::string, double> symbols, noise;
  constexpr int draws = 30000;
  for (std::int64_t i = 0; i < draws; ++i) {
    const Words words = words_of(*task, training_sequence(*task, lm, 1, i, 0));
    std::set<std::size_t> places;
    for (std::size_t at = 0; at < 5; ++at) {
      const bool is_noise = words.tokens[at].front() == 'n';
      if (!is_noise) places.insert(at);
      ++(is_noise ? noise : symbols)[words.tokens[at]];
    }
    ++sets[places];
  }
  REQUIRE(sets.size() == 10);
  for (const auto& [places, times] : sets) CHECK(fits(times, draws, 0.1));
  REQUIRE(symbols.size() == 5);
  for (const auto& [symbol, times] : symbols) CHECK(fits(times, 3 * draws, 0.2));
  REQUIRE(noise.size() == 7);
  for (const auto& [token, times] : noise) CHECK(fits(times, 2 * draws, 1.0 / 7));
}

TEST_CASE("selective_copy says what can't be, and is shown whole", "[tasks][selective_copy]") {
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("selective_copy", std::move(options))); });
  };
  CHECK(message(whole_numbers({{"length", 31}})) ==
        "[task.selective_copy] length = 31 is too short for copied = 16: each symbol and its marker take two tokens; "
        "raise length to 32, or lower copied to 15");
  CHECK_THAT(message(whole_numbers({{"length", 4}, {"copied", 1}, {"symbols", 2}})),
             Contains("gives only 6 different examples"));
  // The model reads markers, not the symbols that it predicted, so the targets are no continuation of the input.
  const auto task = make_task(task_config("selective_copy", whole_numbers({{"length", 12}, {"copied", 3}})));
  each_example(*task, lm, Split::validation, 1, [](const ExampleText& text) {
    CHECK(text.input.ends_with(" | | |"));
    CHECK(text.output.starts_with("_ _ _ _ _ _ _ _ _ "));
  });
  // So are predictions, whatever they are.
  Batch batch;
  batch.reset(1, task->sizes(lm).length, lm);
  task->evaluation_sequence(lm, Split::validation, 0, batch, 0);
  std::vector<std::int32_t> predictions = batch.targets;
  std::ranges::replace_if(
      predictions, [](std::int32_t t) { return t != ignored; }, 7);
  CHECK(example_text(*task, batch, 0, predictions).input == task->decode(batch.tokens));
  CHECK(example_text(*task, batch, 0, predictions).output == "_ _ _ _ _ _ _ _ _ 7 7 7");
}

TEST_CASE("noisy_recall repeats keys in noise, and each that was there has its value as the target",
          "[tasks][noisy_recall]") {
  struct Case {
    OptionValues options;
    std::size_t length;
  };
  for (const Case& c :
       {Case{{}, 128}, Case{with(whole_numbers({{"length", 30}, {"keys", 3}, {"values", 40}}), "noise", 0.0), 30},
        Case{with(whole_numbers({{"length", 40}, {"noise_tokens", 1}, {"values", 3}}), "noise", 0.9), 40},
        Case{whole_numbers({{"length", 40}, {"keys", 1}, {"values", 30}}), 40}}) {
    const Config config = small_config("noisy_recall", c.options);
    check_contract(config);
    for (const Words& words : sequences_of(*make_task(config))) {
      INFO(joined(words.tokens));
      REQUIRE(words.tokens.size() == c.length - 1);
      std::map<std::string, std::string> value_of;
      for (std::size_t i = 0; i < words.tokens.size(); ++i) {
        const char kind = words.tokens[i].front();
        if (i % 2 == 1) { // a key has a value, noise has noise
          CHECK(words.targets[i] == "_");
          CHECK(kind == (words.tokens[i - 1].front() == 'k' ? 'v' : 'n'));
          if (kind == 'v')
            CHECK(value_of.emplace(words.tokens[i - 1], words.tokens[i]).first->second == words.tokens[i]);
          continue;
        }
        const auto found = value_of.find(words.tokens[i]);
        CHECK((kind == 'k' || kind == 'n'));
        CHECK(words.targets[i] == (found == value_of.end() ? "_" : found->second));
      }
      CHECK(words.targets.back() != "_");
    }
  }
}

namespace {

struct Recall {
  int length, keys, values, noise_tokens;
  double noise;
  OptionValues options() const {
    OptionValues options =
        whole_numbers({{"length", length}, {"keys", keys}, {"values", values}, {"noise_tokens", noise_tokens}});
    options["noise"] = noise;
    return options;
  }
  int tokens() const { return keys + values + (noise > 0 ? noise_tokens : 0); }
};

/// All examples, by trying all sequences of tokens.
std::map<Tokens, Tokens> all_of_recall(const Recall& task) {
  std::map<Tokens, Tokens> all;
  each_string(task.tokens(), static_cast<std::size_t>(task.length - 1), [&](const Tokens& input) {
    const auto is_value = [&](std::int32_t t) { return t >= task.keys && t < task.keys + task.values; };
    Tokens output(input.size(), ignored);
    std::map<std::int32_t, std::int32_t> value_of;
    for (std::size_t i = 0; i < input.size(); i += 2) {
      const std::int32_t key = input[i];
      if (is_value(key)) return;
      if (const auto found = value_of.find(key); found != value_of.end()) output[i] = found->second;
      if (i + 1 == input.size()) continue;
      if (key >= task.keys ? input[i + 1] < task.keys + task.values : !is_value(input[i + 1])) return;
      if (key < task.keys && value_of.emplace(key, input[i + 1]).first->second != input[i + 1]) return;
    }
    if (output.back() != ignored) all.emplace(input, output);
  });
  return all;
}

/// The probability of an example by the definition: the mean over the place that never has noise.
double probability(const Recall& task, const Tokens& input) {
  double sum = 0;
  const std::size_t places = input.size() / 2;
  for (std::size_t sure = 0; sure < places; ++sure) {
    double p = 1.0 / static_cast<double>(places);
    std::set<std::int32_t> seen;
    for (std::size_t i = 0; i < places; ++i) {
      const bool noise = input[2 * i] >= task.keys;
      if (noise) p *= i == sure ? 0 : task.noise / task.noise_tokens / task.noise_tokens;
      else {
        if (i != sure) p *= 1 - task.noise;
        p /= task.keys;
        if (seen.insert(input[2 * i]).second) p /= task.values;
      }
    }
    if (p > 0) sum += p / static_cast<double>(seen.size());
  }
  return sum;
}

} // namespace

TEST_CASE("noisy_recall's examples are all that its definition allows, and their chance, by trying all",
          "[tasks][noisy_recall]") {
  for (const Recall& task :
       {Recall{8, 2, 2, 1, 0.3}, Recall{6, 2, 3, 2, 0.5}, Recall{8, 3, 2, 1, 0.0}, Recall{8, 1, 3, 2, 0.4}}) {
    INFO(task.length << " " << task.keys << " " << task.values << " " << task.noise_tokens);
    const auto all = all_of_recall(task);
    double total = 0;
    for (const auto& [input, output] : all) total += probability(task, input);
    CHECK(total == Approx(1));
    Config config = task_config("noisy_recall", task.options());
    check_examples(config, all);

    // The best guesser without the input has a value for each position. It tries all of them.
    double all_right = 0, right = 0;
    each_string(task.values, static_cast<std::size_t>(task.length / 2), [&](const Tokens& guesses) {
      double sequences = 0, correct = 0, targets = 0;
      for (const auto& [input, output] : all) {
        const double p = probability(task, input);
        bool every = true;
        for (std::size_t i = 0; i < output.size(); i += 2) {
          if (output[i] == ignored) continue;
          const bool hit = output[i] == task.keys + guesses[i / 2];
          every = every && hit;
          correct += hit ? p : 0;
          targets += p;
        }
        sequences += every ? p : 0;
      }
      all_right = std::max(all_right, sequences);
      right = std::max(right, correct / targets);
    });
    config.task.validation = config.task.test = 4;
    const Task::Chance chance = make_task(config)->chance(lm);
    CHECK(chance.accuracy == Approx(right));
    CHECK(chance.sequence->value == Approx(all_right));
    CHECK(chance.loss->value == Approx(std::log(task.values)));
  }
}

TEST_CASE("noisy_recall's sequence chance for many keys is the mean over sequences that are drawn",
          "[tasks][noisy_recall]") {
  const auto task = make_task(task_config("noisy_recall",
                                          whole_numbers({{"keys", 40}, {"values", 2}, {"length", 32}})));
  double sum = 0, squares = 0;
  constexpr int draws = 20000;
  for (std::int64_t i = 0; i < draws; ++i) {
    const Sequence sequence = training_sequence(*task, lm, 4, i, 0);
    std::set<std::int32_t> repeated;
    for (std::size_t at = 0; at < sequence.tokens.size(); ++at)
      if (sequence.targets[at] != ignored) repeated.insert(sequence.tokens[at]);
    const double p = std::pow(0.5, static_cast<double>(repeated.size()));
    sum += p / draws;
    squares += p * p / draws;
  }
  CHECK(std::abs(task->chance(lm).sequence->value - sum) < 5 * std::sqrt((squares - sum * sum) / draws));
}

TEST_CASE("noisy_recall's noise, keys, values and last key are as its definition says", "[tasks][noisy_recall]") {
  const Recall recall{12, 2, 3, 4, 0.4};
  const auto task = make_task(task_config("noisy_recall", recall.options()));
  constexpr int draws = 30000;
  std::map<std::size_t, double> noise;
  std::map<std::string, double> tokens, last;
  double pairs = 0, noises = 0, both = 0, firsts = 0;
  std::map<std::string, double> values;
  for (std::int64_t i = 0; i < draws; ++i) {
    const Words words = words_of(*task, training_sequence(*task, lm, 2, i, 0));
    std::set<std::string> seen;
    for (std::size_t at = 0; at < 10; at += 2) {
      const bool is_noise = words.tokens[at].front() == 'n';
      noise[at] += is_noise;
      (is_noise ? noises : pairs) += 1;
      ++tokens[words.tokens[at]];
      if (is_noise || !seen.insert(words.tokens[at]).second) continue;
      ++values[words.tokens[at + 1]];
      ++firsts;
    }
    if (seen.size() < 2) continue;
    ++both;
    ++last[words.tokens.back()];
  }
  // One of five places, which is drawn, has no noise; the others have it with probability 0.4.
  REQUIRE(noise.size() == 5);
  for (const auto& [place, times] : noise) CHECK(fits(times, draws, 0.8 * 0.4));
  REQUIRE(tokens.size() == 6);
  for (const auto& [token, times] : tokens)
    CHECK((token.front() == 'k' ? fits(times, pairs, 0.5) : fits(times, noises, 0.25)));
  REQUIRE(values.size() == 3);
  for (const auto& [value, times] : values) CHECK(fits(times, firsts, 1.0 / 3));
  REQUIRE(last.size() == 2);
  for (const auto& [key, times] : last) CHECK(fits(times, both, 0.5));
}

TEST_CASE("noisy_recall says what can't be", "[tasks][noisy_recall]") {
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("noisy_recall", std::move(options))); });
  };
  CHECK(message(whole_numbers({{"length", 127}})) ==
        "[task.noisy_recall] length = 127 is odd, but a key and its value take two tokens; take 126 or 128");
  CHECK_THAT(message(with(whole_numbers({{"length", 4}, {"keys", 2}, {"values", 2}}), "noise", 0.0)),
             Contains("gives only 4 different examples"));
}
