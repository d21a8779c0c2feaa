// Tests of what guessing reaches in generated tasks.
#include "experiments/tasks/generated_task.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/generated_support.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::test;

namespace {

/// The accuracy of the best guesser that sees the outputs so far but not the input. It averages over all inputs of
/// these lengths; the lengths are equally likely, and so are the inputs of one length. It is the expected number of
/// correct guesses divided by the expected number of guesses.
double best_guess(const std::string& kind, int shortest, int longest, int symbols) {
  double right = 0, all = 0;
  for (int n = shortest; n <= longest; ++n) {
    std::map<std::vector<int>, std::map<int, int>> next; // after each prefix of outputs: how often each symbol follows
    double inputs = 0;
    std::vector<int> input(static_cast<std::size_t>(n), 0);
    for (bool more = true; more; ++inputs) {
      std::vector<int> output = input;
      if (kind == "reverse") std::ranges::reverse(output);
      if (kind == "sort") std::ranges::sort(output);
      for (std::size_t i = 0; i < output.size(); ++i)
        ++next[{output.begin(), output.begin() + static_cast<std::ptrdiff_t>(i)}][output[i]];
      std::size_t digit = 0;
      while (digit < input.size() && ++input[digit] == symbols) input[digit++] = 0;
      more = digit < input.size();
    }
    for (const auto& [outputs, counts] : next)
      right += std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->second / inputs;
    all += n;
  }
  return right / all;
}

} // namespace

TEST_CASE("chance is what the best guesser reaches without the input, by brute force", "[tasks]") {
  struct Case {
    int shortest, longest, symbols;
  };
  for (const char* kind : {"copy", "reverse", "sort"})
    for (const Case& c : {Case{5, 5, 4}, Case{2, 6, 4}, Case{9, 9, 2}, Case{3, 3, 11}, Case{4, 4, 7}}) {
      INFO(kind << " " << c.shortest << " " << c.longest << " " << c.symbols);
      const OptionValues options =
          whole_numbers({{"min_length", c.shortest}, {"length", c.longest}, {"symbols", c.symbols}});
      const auto task = make_task(task_config(kind, options));
      CHECK(task->chance(TaskFormat::language_model).accuracy ==
            Approx(best_guess(kind, c.shortest, c.longest, c.symbols)));
    }
}

TEST_CASE("chance of one label is the share of the commonest, over all examples or very many", "[tasks]") {
  CHECK(make_task(task_config("parity"))->chance(TaskFormat::classification).accuracy == 0.5);
  CHECK(make_task(task_config("parity"))->chance(TaskFormat::classification).how == "1 / 2");
  CHECK(make_task(task_config("modular_addition"))->chance(TaskFormat::language_model).accuracy == Approx(1.0 / 97));
  const auto recall = make_task(task_config("recall", whole_numbers({{"pairs", 4}, {"keys", 4}, {"values", 5}})));
  CHECK(recall->chance(TaskFormat::classification).accuracy == Approx(1.0 / 5));
  CHECK(recall->chance(TaskFormat::classification).how == "1 / values");

  for (const Config& config : generated_configs()) {
    const auto task = make_task(config);
    if (!task->refuses(TaskFormat::classification).empty()) continue;
    INFO(config.task.kind);
    std::map<std::int32_t, int> count;
    constexpr int draws = 30000;
    for (std::int64_t i = 0; i < draws; ++i)
      ++count[training_sequence(*task, TaskFormat::classification, 1, i, 0).targets[0]];
    const double chance = task->chance(TaskFormat::classification).accuracy;
    const auto commonest = std::ranges::max_element(count, {}, [](const auto& c) { return c.second; })->second;
    // A tolerance of half a percentage point for the random choice of training examples, plus five standard errors.
    CHECK(std::abs(commonest / double{draws} - chance) < 0.005 + 5 * std::sqrt(chance * (1 - chance) / draws));
  }
}

TEST_CASE("chance of a long sort is that of its limit", "[tasks][many]") {
  // With 512 outputs of 1024 symbols, the symbols' counts are nearly independent Poisson variables with mean 1/2. After
  // the first output of a symbol, the next output is the same symbol with probability P(N >= 2) / P(N >= 1) = 0.23, and
  // with a lower probability after more of them; it is the symbol's neighbour with probability 0.77 * 0.39 = 0.30. So
  // the best guess is always the neighbour. A proportion 2 (1 - e^-1/2) of the outputs is the first of a symbol, and
  // the neighbour is present with probability 1 - e^-1/2.
  const auto task = make_task(task_config("sort", whole_numbers({{"length", 512}, {"symbols", 1024}})));
  const double occurs = 1 - std::exp(-0.5);
  CHECK(task->chance(TaskFormat::language_model).accuracy == Approx(2 * occurs * occurs).margin(0.002));
}

TEST_CASE("chance of whole sequences, of ends and of losses, by enumerating all outputs", "[tasks]") {
  struct Case {
    int shortest, longest, symbols;
  };
  for (const Case& c : {Case{3, 3, 3}, Case{2, 4, 3}, Case{1, 5, 2}, Case{4, 4, 2}})
    for (const bool ends : {false, true}) {
      INFO(c.shortest << " to " << c.longest << " of " << c.symbols << (ends ? " with ends" : ""));
      // The possible contents of a sequence's position, by probability; an output's own contents, by its length.
      std::map<int, std::map<int, double>> at;
      std::map<int, double> likeliest;
      double best = 0;
      const double lengths = c.longest - c.shortest + 1;
      for (int n = c.shortest; n <= c.longest; ++n) {
        int outputs = 1;
        for (int i = 0; i < n; ++i) outputs *= c.symbols;
        for (int output = 0; output < outputs; ++output) {
          const double p = 1 / lengths / outputs;
          int left = output;
          for (int t = 0; t < n; ++t) {
            at[t][left % c.symbols] += p;
            left /= c.symbols;
          }
          if (ends) at[n][c.symbols] += p;
          likeliest[n] = std::max(likeliest[n], p);
          best = std::max(best, p);
        }
      }
      double right = 0, loss = 0, all = 0, known_length = 0;
      for (const auto& [t, outcomes] : at) {
        double total = 0, most = 0;
        for (const auto& [token, p] : outcomes) {
          total += p;
          most = std::max(most, p);
        }
        for (const auto& [token, p] : outcomes) loss -= p * std::log(p / total);
        right += most;
        all += total;
      }
      for (const auto& [n, p] : likeliest) known_length += p;
      const Task::Chance chance = chance_of_symbols({c.shortest, c.longest}, c.symbols, ends);
      CHECK(chance.accuracy == Approx(right / all));
      CHECK(chance.loss->value == Approx(loss / all));
      CHECK(chance.sequence->value == Approx(ends ? best : known_length));
    }
}

TEST_CASE("a format that ends outputs has another chance", "[tasks]") {
  // Eight symbols out of eight: a guess of the whole sequence is right in one of 8^8 cases.
  const auto copy = make_task(task_config("copy", whole_numbers({{"length", 8}, {"symbols", 8}})));
  const Task::Chance plain = copy->chance(TaskFormat::language_model),
                     ended = copy->chance(TaskFormat::sequence_to_sequence);
  CHECK(plain.accuracy == 0.125);
  CHECK(plain.sequence->value == Approx(1.0 / 16777216));
  CHECK(plain.sequence->how == "(1 / symbols)^8");
  CHECK(plain.loss->value == Approx(std::log(8.0)));
  CHECK(ended.accuracy == Approx(2.0 / 9)); // one of eight symbols, and the end
  CHECK(ended.sequence->value == Approx(1.0 / 16777216));
  CHECK(ended.loss->value == Approx(8 * std::log(8.0) / 9));

  const auto recall = make_task(task_config("recall", whole_numbers({{"pairs", 4}, {"keys", 4}, {"values", 5}})));
  CHECK(recall->chance(TaskFormat::classification).loss->value == Approx(std::log(5.0)));
  CHECK(recall->chance(TaskFormat::sequence_to_sequence).accuracy == Approx(0.2));
  CHECK(recall->chance(TaskFormat::sequence_to_sequence).sequence->value == Approx(0.2));
  CHECK(recall->chance(TaskFormat::sequence_to_sequence).loss->value == Approx(std::log(5.0) / 2));
  const auto sort = make_task(task_config("sort", whole_numbers({{"length", 5}, {"symbols", 4}})));
  CHECK(sort->chance(TaskFormat::sequence_to_sequence).accuracy ==
        Approx((5 * sort->chance(TaskFormat::language_model).accuracy + 1) / 6));
}

TEST_CASE("the loss by frequencies is the cross-entropy of validation by training's", "[tasks]") {
  const std::vector<std::int64_t> training{6, 2, 0}, validation{1, 3, 0};
  CHECK(loss_by_frequencies(training, validation, "labels")->value ==
        Approx(-(std::log(0.75) + 3 * std::log(0.25)) / 4));
  CHECK_FALSE(loss_by_frequencies(training, std::vector<std::int64_t>{1, 0, 1}, "labels"));
  CHECK_FALSE(loss_by_frequencies(training, std::vector<std::int64_t>{0, 0, 0}, "labels"));
}
