// Tests of tasks whose targets are at certain positions of one sequence: which positions count, the target at each, and
// the accuracy of guessing.
#include "experiments/tasks/task_survey.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/places_support.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

TEST_CASE("mqar asks for each key once behind the pairs, and its value is the target there", "[tasks][mqar]") {
  for (const auto& options : {whole_numbers({}), whole_numbers({{"pairs", 3}, {"length", 13}, {"vocabulary", 6}}),
                              whole_numbers({{"pairs", 4}, {"length", 16}, {"vocabulary", 40}})}) {
    const Config config = small_config("mqar", options);
    check_contract(config);
    const std::size_t pairs = options.empty() ? 8
                                              : static_cast<std::size_t>(std::get<std::int64_t>(options.at("pairs")));
    const std::size_t length = options.empty() ? 64
                                               : static_cast<std::size_t>(std::get<std::int64_t>(options.at("length")));
    for (const Words& sequence : sequences_of(*make_task(config))) {
      INFO(joined(sequence.tokens));
      REQUIRE(sequence.tokens.size() == length);
      std::map<std::string, std::string> value_of;
      std::set<std::string> values;
      for (std::size_t i = 0; i < pairs; ++i) {
        CHECK(sequence.tokens[2 * i].front() == 'k');
        CHECK(sequence.tokens[2 * i + 1].front() == 'v');
        CHECK(value_of.emplace(sequence.tokens[2 * i], sequence.tokens[2 * i + 1]).second);
        CHECK(values.insert(sequence.tokens[2 * i + 1]).second);
      }
      std::set<std::string> asked;
      for (std::size_t i = 0; i < length; ++i) {
        const bool question = i >= 2 * pairs && value_of.contains(sequence.tokens[i]);
        CHECK(sequence.targets[i] == (question ? value_of[sequence.tokens[i]] : "_"));
        if (!question) continue;
        CHECK(i % 2 == 0);
        CHECK(asked.insert(sequence.tokens[i]).second);
      }
      CHECK(asked.size() == pairs);
    }
  }
}

TEST_CASE("mqar's questions follow the power law, and its other tokens are even", "[tasks][mqar]") {
  for (const double power : {0.1, 1.0}) {
    INFO(power);
    OptionValues options = whole_numbers({{"pairs", 1}, {"length", 22}, {"vocabulary", 8}});
    options["power"] = power;
    const auto task = make_task(task_config("mqar", options));
    std::map<std::size_t, double> places;
    std::map<std::int32_t, double> others;
    constexpr int draws = 20000;
    for (std::int64_t i = 0; i < draws; ++i) {
      const Sequence sequence = training_sequence(*task, lm, 0, i, 0);
      const auto place = std::ranges::find_if(sequence.targets, [](std::int32_t t) { return t != ignored; });
      ++places[static_cast<std::size_t>(place - sequence.targets.begin()) / 2];
      for (std::size_t at = 2; at < sequence.tokens.size(); ++at)
        if (sequence.targets[at] == ignored) ++others[sequence.tokens[at]];
    }
    double total = 0;
    for (int s = 1; s <= 10; ++s) total += std::pow(s, power - 1);
    for (int s = 1; s <= 10; ++s) { // slot s begins at position 2 s
      const double expected = std::pow(s, power - 1) / total;
      CHECK(std::abs(places[static_cast<std::size_t>(s)] / draws - expected) <
            5 * std::sqrt(expected * (1 - expected) / draws));
    }
    REQUIRE(others.size() == 8);
    // The 7 tokens other than the sequence's key are equally likely. A key can appear in the 3 of 4 sequences with
    // another key.
    for (const auto& [token, count] : others)
      CHECK(std::abs(count / (19.0 * draws) - (token < 4 ? 3.0 / 28 : 1.0 / 7)) < 0.005);
  }
}

TEST_CASE("mqar's chance is that of different values", "[tasks][mqar]") {
  const auto chance =
      make_task(task_config("mqar", whole_numbers({{"pairs", 3}, {"length", 20}, {"vocabulary", 10}})))->chance(lm);
  CHECK(chance.accuracy == Approx(0.2));
  CHECK(chance.sequence->value == Approx(1.0 / (5 * 4 * 3)));
  CHECK(chance.loss->value == Approx(std::log(5.0)));
}

TEST_CASE("mqar says what can't be", "[tasks][mqar]") {
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("mqar", std::move(options))); });
  };
  CHECK(message(whole_numbers({{"pairs", 20}})) ==
        "[task.mqar] length = 64 is too short for pairs = 20: each pair and each query takes two tokens; raise length "
        "to 80, or lower pairs to 16");
  CHECK_THAT(message(whole_numbers({{"vocabulary", 9}})),
             Contains("vocabulary = 9 is odd") && Contains("take 8 or 10"));
  CHECK_THAT(message(whole_numbers({{"vocabulary", 14}})), Contains("pairs = 8 is above 7, half of vocabulary = 14"));
  CHECK_THAT(message(whole_numbers({{"pairs", 1}, {"length", 4}, {"vocabulary", 4}})),
             Contains("only 12 different examples"));
}

TEST_CASE("induction repeats a sequence, and every symbol of it but the first is a target", "[tasks][induction]") {
  struct Case {
    OptionValues options;
    std::size_t shortest, longest, longest_test, repeats;
  };
  for (const Case& c :
       {Case{whole_numbers({}), 16, 16, 16, 2},
        Case{whole_numbers({{"length", 6}, {"min_length", 3}, {"symbols", 9}, {"repeats", 3}}), 3, 6, 6, 3},
        Case{whole_numbers({{"length", 5}, {"test_length", 9}, {"symbols", 9}}), 5, 5, 9, 2}}) {
    const Config config = small_config("induction", c.options);
    check_contract(config);
    const auto task = make_task(config);
    std::set<std::size_t> lengths, of_test;
    const auto check = [&](const Words& sequence, std::set<std::size_t>& seen) {
      INFO(joined(sequence.tokens));
      REQUIRE((sequence.tokens.size() + 1) % c.repeats == 0);
      const std::size_t n = (sequence.tokens.size() + 1) / c.repeats;
      seen.insert(n);
      CHECK(std::set<std::string>(sequence.tokens.begin(), sequence.tokens.begin() + static_cast<std::ptrdiff_t>(n))
                .size() == n);
      for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
        // By induction: the symbol that followed the same symbol's earlier position, if it occurred before.
        std::string expected = "_";
        for (std::size_t before = 0; before + 1 < i; ++before)
          if (sequence.tokens[before] == sequence.tokens[i] && i % n != n - 1) expected = sequence.tokens[before + 1];
        CHECK(sequence.targets[i] == expected);
        if (i + 1 < sequence.tokens.size() && sequence.targets[i] != "_")
          CHECK(sequence.tokens[i + 1] == sequence.targets[i]);
      }
    };
    for (const Split split : {Split::train, Split::validation})
      for (const Sequence& sequence : evaluation_sequences(*task, lm, split)) check(words_of(*task, sequence), lengths);
    for (const Sequence& sequence : evaluation_sequences(*task, lm, Split::test))
      check(words_of(*task, sequence), of_test);
    CHECK(*lengths.begin() == c.shortest);
    CHECK(*lengths.rbegin() == c.longest);
    CHECK(lengths.size() == c.longest - c.shortest + 1);
    CHECK(*of_test.begin() == (c.longest_test > c.longest ? c.longest + 1 : c.shortest));
    CHECK(*of_test.rbegin() == c.longest_test);
    CHECK(task->sizes(lm).length == static_cast<std::int64_t>(c.longest_test * c.repeats - 1));
  }
}

TEST_CASE("induction's chance, over all sequences", "[tasks][induction]") {
  // Of five symbols, sequences of 3 and of 4; the best guess of whole sequences, for each length.
  const auto chance = make_task(task_config("induction",
                                            whole_numbers({{"length", 4}, {"min_length", 3}, {"symbols", 5}})))
                          ->chance(lm);
  std::map<int, std::map<std::vector<int>, int>> targets;
  for (int code = 0; code < 625; ++code) {
    const std::vector<int> all{code % 5, code / 5 % 5, code / 25 % 5, code / 125};
    for (const int n : {3, 4}) {
      if (n == 3 && code >= 125) continue;
      const std::vector<int> sequence(all.begin(), all.begin() + n);
      if (std::set<int>(sequence.begin(), sequence.end()).size() == sequence.size())
        ++targets[n][{sequence.begin() + 1, sequence.end()}];
    }
  }
  double all_right = 0;
  for (const auto& [n, counts] : targets) {
    int all = 0, most = 0;
    for (const auto& [sequence, count] : counts) {
      all += count;
      most = std::max(most, count);
    }
    all_right += most / double(all) / 2;
  }
  CHECK(chance.accuracy == Approx(0.2));
  CHECK(chance.sequence->value == Approx(all_right));
  CHECK(chance.loss->value == Approx(std::log(5.0)));
}

TEST_CASE("induction says what can't be", "[tasks][induction]") {
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("induction", std::move(options))); });
  };
  CHECK(message(whole_numbers({{"symbols", 15}})) ==
        "[task.induction] symbols = 15 is below length = 16, but a sequence has no symbol twice; raise symbols to 16 "
        "at least");
  CHECK_THAT(message(whole_numbers({{"test_length", 65}})), Contains("symbols = 64 is below test_length = 65"));
  CHECK_THAT(message(whole_numbers({{"min_length", 1}})), Contains("min_length = 1 gives no target"));
  CHECK_THAT(message(whole_numbers({{"test_length", 16}})), Contains("test_length = 16 is not above length = 16"));
}

TEST_CASE("dyck's brackets are balanced, within the depth, and each that closes is a target", "[tasks][dyck]") {
  struct Case {
    OptionValues options;
    std::size_t shortest, longest, longest_test, depth;
  };
  for (const Case& c :
       {Case{whole_numbers({}), 32, 32, 32, 4},
        Case{whole_numbers({{"length", 12}, {"min_length", 6}, {"depth", 0}}), 6, 12, 12, 6},
        Case{whole_numbers({{"length", 14}, {"test_length", 24}, {"depth", 2}, {"kinds", 5}}), 14, 14, 24, 2}}) {
    const Config config = small_config("dyck", c.options);
    check_contract(config);
    const auto task = make_task(config);
    std::set<std::size_t> lengths, of_test;
    std::size_t deepest = 0;
    const auto check = [&](const Words& sequence, std::set<std::size_t>& seen) {
      INFO(joined(sequence.tokens));
      std::vector<std::string> brackets = sequence.tokens;
      brackets.push_back(sequence.targets.back());
      seen.insert(brackets.size());
      std::vector<std::string> open;
      for (std::size_t i = 0; i < brackets.size(); ++i) {
        const std::string kind = brackets[i].substr(1);
        if (brackets[i].front() == '(') {
          open.push_back(kind);
          if (i > 0) CHECK(sequence.targets[i - 1] == "_");
        } else {
          REQUIRE_FALSE(open.empty());
          CHECK(open.back() == kind);
          open.pop_back();
          CHECK(sequence.targets[i - 1] == ")" + kind);
        }
        deepest = std::max(deepest, open.size());
      }
      CHECK(open.empty());
    };
    for (const Split split : {Split::train, Split::validation})
      for (const Sequence& sequence : evaluation_sequences(*task, lm, split)) check(words_of(*task, sequence), lengths);
    for (const Sequence& sequence : evaluation_sequences(*task, lm, Split::test))
      check(words_of(*task, sequence), of_test);
    CHECK(deepest == c.depth);
    CHECK(*lengths.begin() == c.shortest);
    CHECK(*lengths.rbegin() == c.longest);
    CHECK(*of_test.begin() == (c.longest_test > c.longest ? c.longest + 2 : c.shortest));
    CHECK(*of_test.rbegin() == c.longest_test);
  }
}

TEST_CASE("dyck counts its sequences, and its chance is that of kinds", "[tasks][dyck]") {
  // Catalan numbers: 5 ways to nest 3 pairs and 14 ways for 4; with a maximal depth of 2, 4 and 8.
  const auto about = [](OptionValues options) {
    options["kinds"] = std::int64_t{10};
    return make_task(task_config("dyck", options))->facts().notes.front();
  };
  CHECK_THAT(about(whole_numbers({{"length", 6}, {"depth", 0}})), Contains("about 5e+03 "));
  CHECK_THAT(about(whole_numbers({{"length", 8}, {"depth", 0}})), Contains("about 1.4e+05 "));
  CHECK_THAT(about(whole_numbers({{"length", 6}, {"depth", 2}})), Contains("about 4e+03 "));
  CHECK_THAT(about(whole_numbers({{"length", 8}, {"min_length", 6}, {"depth", 2}})), Contains("about 8.4e+04 "));
  const auto chance =
      make_task(task_config("dyck", whole_numbers({{"length", 8}, {"min_length", 6}, {"kinds", 3}})))->chance(lm);
  CHECK(chance.accuracy == Approx(1.0 / 3));
  CHECK(chance.sequence->value == Approx((1.0 / 27 + 1.0 / 81) / 2));
  CHECK(chance.loss->value == Approx(std::log(3.0)));
}

TEST_CASE("dyck says what can't be", "[tasks][dyck]") {
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("dyck", std::move(options))); });
  };
  CHECK(message(whole_numbers({{"length", 31}})) ==
        "[task.dyck] length = 31 is odd, but every open bracket needs a closing one; take 30 or 32");
  CHECK_THAT(message(whole_numbers({{"test_length", 41}})), Contains("test_length = 41 is odd"));
  CHECK_THAT(message(whole_numbers({{"min_length", 34}})), Contains("min_length = 34 is above length = 32"));
  CHECK(message(whole_numbers({{"depth", 17}})) ==
        "[task.dyck] depth = 17 is more than 32 brackets can have; it may be 1 to 16, or 0 for any");
  CHECK_THAT(message(whole_numbers({{"length", 4}, {"depth", 0}})),
             Contains("examples, too few for splits that share none"));
}

TEST_CASE("a sequence with targets at places is shown whole, with a mark where there is none", "[tasks]") {
  const auto task = make_task(task_config("mqar", whole_numbers({{"pairs", 2}, {"length", 9}, {"vocabulary", 12}})));
  const Words sequence = words_of(*task, evaluation_sequence(*task, lm, Split::validation, 0));
  each_example(*task, lm, Split::validation, 1, [&](const ExampleText& text) {
    CHECK(text.input == joined(sequence.tokens));
    CHECK(text.output == joined(sequence.targets));
  });
}
