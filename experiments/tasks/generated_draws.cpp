// Common functions of the generators: input lengths, random draws and chance levels.
#include "experiments/tasks/generated_task.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace heed {

Lengths input_lengths(const std::string& kind, std::int64_t length, std::int64_t min_length) {
  if (min_length > length)
    throw Refused(fmt::format("[task.{0}] min_length = {1} is above length = {2}; it may be 1 to {2}, or 0 (all inputs "
                              "have the length)",
                              kind, min_length, length));
  return {min_length == 0 ? length : min_length, length};
}

std::optional<Lengths> test_lengths(const std::string& kind, std::int64_t length, std::int64_t test_length) {
  if (test_length == 0) return std::nullopt;
  if (test_length <= length)
    throw Refused(fmt::format("[task.{0}] test_length = {1} is not above length = {2}; inputs of the test split must "
                              "be longer than inputs of training, so it may be {3} or more, or 0 for the lengths of "
                              "training",
                              kind, test_length, length, length + 1));
  return Lengths{length + 1, test_length};
}

void draw_different(RandomSource& random, std::int64_t n, std::int64_t count, std::vector<std::int32_t>& to) {
  to.resize(static_cast<std::size_t>(n));
  std::iota(to.begin(), to.end(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto from = i + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n - i)));
    std::swap(to[static_cast<std::size_t>(i)], to[static_cast<std::size_t>(from)]);
  }
}

void draw_symbols(RandomSource& random, const Lengths& lengths, std::int64_t symbols,
                  std::vector<std::int32_t>& input) {
  const auto lengths_more = static_cast<std::uint64_t>(lengths.longest - lengths.shortest);
  const std::uint64_t more = lengths_more == 0 ? 0 : random.below(lengths_more + 1);
  input.resize(static_cast<std::size_t>(lengths.shortest) + more);
  for (std::int32_t& symbol : input)
    symbol = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(symbols)));
}

void draw_by_lengths(Generator& generator, const Lengths& lengths, const std::optional<Lengths>& test,
                     const std::function<void(RandomSource&, const Lengths&, Example&)>& draw,
                     const std::function<double(const Lengths&)>& count) {
  const auto draw_of = [&](const Lengths& which) {
    return [=](RandomSource& random, Example& example) { draw(random, which, example); };
  };
  generator.draw = draw_of(lengths);
  generator.examples = count(lengths);
  if (!test) return;
  generator.draw_test = draw_of(*test);
  generator.test_examples = count(*test);
}

double count_inputs(const Lengths& lengths, std::int64_t symbols) {
  double count = 0;
  for (std::int64_t n = lengths.shortest; n <= lengths.longest; ++n)
    count += std::pow(static_cast<double>(symbols), static_cast<double>(n));
  return count;
}

Task::Chance chance_of_symbols(const Lengths& lengths, std::int64_t symbols, bool ends) {
  const double s = static_cast<double>(symbols),
               share = 1.0 / static_cast<double>(lengths.longest - lengths.shortest + 1);
  const bool varied = lengths.shortest < lengths.longest;
  const auto all_right = [&](std::int64_t n) { return std::pow(s, -static_cast<double>(n)); };
  Task::Chance chance{1 / s, "1 / symbols", {}, Task::Level{std::log(s), fmt::format("ln({0}), {0} symbols", symbols)}};
  double sequence = 0;
  for (std::int64_t n = lengths.shortest; n <= lengths.longest; ++n) sequence += share * all_right(n);
  chance.sequence = Task::Level{sequence, varied ? "the mean of (1 / symbols)^length"
                                                 : fmt::format("(1 / symbols)^{}", lengths.longest)};
  if (!ends) return chance;

  double right = 0, loss = 0, targets = 0, there = 1; // there: probability that the output has not ended before
  for (std::int64_t t = 0; t <= lengths.longest; ++t) {
    const double ending = t < lengths.shortest ? 0 : std::min(1.0, share / there);
    right += there * std::max(ending, (1 - ending) / s);
    if (ending > 0) loss -= there * ending * std::log(ending);
    if (ending < 1) loss -= there * (1 - ending) * std::log((1 - ending) / s);
    targets += there;
    there *= 1 - ending;
    if (there < 1e-12) break;
  }
  chance.accuracy = right / targets;
  chance.how = varied ? "1 / symbols, or the end where that is likelier" : "1 / symbols, and the end, which is sure";
  if (varied)
    chance.sequence = Task::Level{share * all_right(lengths.shortest),
                                  fmt::format("(1 / symbols)^{}, were it of the shortest length", lengths.shortest)};
  chance.loss = Task::Level{loss / targets,
                            varied ? "symbols and ends by their frequencies"
                                   : fmt::format("ln({}) for a symbol, 0 for the end, which is sure", symbols)};
  return chance;
}

Task::Chance chance_of_label(std::int64_t labels, const std::string& what, bool ends) {
  const double accuracy = 1 / static_cast<double>(labels), loss = std::log(static_cast<double>(labels));
  const std::string how = "1 / " + what;
  return {accuracy, how, Task::Level{accuracy, how},
          ends ? Task::Level{loss / 2, fmt::format("ln({}), and the end, which is sure", what)}
               : Task::Level{loss, fmt::format("ln({})", what)}};
}

Task::Chance chance_of_shares(std::span<const double> shares, const std::string& commonest, bool ends) {
  const double accuracy = std::ranges::max(shares);
  double loss = 0;
  for (const double share : shares)
    if (share > 0) loss -= share * std::log(share);
  const std::string how = fmt::format("always {}, the commonest answer", commonest);
  return {accuracy, how, Task::Level{accuracy, how},
          ends ? Task::Level{loss / 2, "answers by their frequencies, and the end, which is sure"}
               : Task::Level{loss, "answers by their frequencies"}};
}

Task::Chance chance_of_counts(std::span<const std::int64_t> counts, const std::string& commonest, bool ends) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  std::vector<double> shares;
  for (const std::int64_t count : counts) shares.push_back(static_cast<double>(count) / all);
  return chance_of_shares(shares, commonest, ends);
}

std::vector<std::string> number_words(std::int64_t count, const std::string& prefix) {
  std::vector<std::string> words;
  for (std::int64_t i = 0; i < count; ++i) words.push_back(prefix + std::to_string(i));
  return words;
}

} // namespace heed
