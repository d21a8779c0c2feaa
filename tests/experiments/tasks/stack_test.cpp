// The task of stacks: plain stacks say what each pop gives, how operations are drawn, and the accuracy of guessing.
#include "tests/catch.hpp"
#include "tests/experiments/tasks/places_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

// What a sequence has, once its targets were compared with those of plain stacks.
struct Seen {
  std::size_t operations = 0, pops = 0, deepest = 0, left = 0; // left: elements at the end
  std::set<std::string> stacks, elements;
};

Seen check_operations(const Words& sequence) {
  INFO(joined(sequence.tokens));
  Seen seen;
  std::map<std::string, std::vector<std::string>> stacks;
  REQUIRE(sequence.tokens.size() % 3 == 2); // the last element is only a target
  for (std::size_t i = 0; i < sequence.tokens.size(); i += 3, ++seen.operations) {
    const std::string &stack = sequence.tokens[i + 1], operation = sequence.tokens[i];
    const bool last = i + 2 == sequence.tokens.size();
    const std::string element = last ? sequence.targets[i + 1] : sequence.tokens[i + 2];
    REQUIRE(stack.front() == 's');
    REQUIRE(element.front() == 'x');
    seen.stacks.insert(stack);
    seen.elements.insert(element);
    CHECK(sequence.targets[i] == "_");
    if (!last) CHECK(sequence.targets[i + 2] == "_");
    std::vector<std::string>& elements = stacks[stack];
    if (operation == "push") {
      CHECK_FALSE(last);
      CHECK(sequence.targets[i + 1] == "_");
      elements.push_back(element);
      seen.deepest = std::max(seen.deepest, elements.size());
      continue;
    }
    CHECK(operation == "pop");
    ++seen.pops;
    REQUIRE_FALSE(elements.empty());
    CHECK(sequence.targets[i + 1] == elements.back());
    CHECK(element == elements.back());
    elements.pop_back();
  }
  for (const auto& [stack, elements] : stacks) seen.left += elements.size();
  return seen;
}

// Calls `with` on each sequence of so many operations: its words, without the last element, and the probability that it
// is drawn.
void each_sequence(std::size_t operations, std::size_t stacks, std::size_t symbols,
                   const std::function<void(const std::string&, std::size_t pops, double)>& with) {
  std::vector<std::vector<std::size_t>> now(stacks);
  const auto add = [&](const auto& self, std::size_t left, const std::string& text, std::size_t pops,
                       double probability) -> void {
    std::size_t elements = 0, filled = 0;
    for (const auto& stack : now) {
      elements += stack.size();
      filled += stack.empty() ? 0 : 1;
    }
    const bool only_pushes = elements == 0 || (left == 2 && elements == 1);
    const double push = left == 1 ? 0 : only_pushes ? 1 : 0.6;
    for (std::size_t s = 0; s < stacks; ++s) {
      for (std::size_t x = 0; push > 0 && x < symbols; ++x) {
        now[s].push_back(x);
        self(self, left - 1, text + " push s" + std::to_string(s) + " x" + std::to_string(x), pops,
             probability * push / static_cast<double>(stacks * symbols));
        now[s].pop_back();
      }
      if (push == 1 || now[s].empty()) continue;
      const std::size_t top = now[s].back();
      now[s].pop_back();
      const double p = probability * (1 - push) / static_cast<double>(filled);
      const std::string popped = text + " pop s" + std::to_string(s);
      if (left == 1) with(popped.substr(1), pops + 1, p);
      else self(self, left - 1, popped + " x" + std::to_string(top), pops + 1, p);
      now[s].push_back(top);
    }
  };
  add(add, operations, "", 0, 1);
}

} // namespace

TEST_CASE("a pop has the element that was pushed last onto its stack as the target", "[tasks][stack]") {
  struct Case {
    int length, min_length, stacks, symbols;
  };
  for (const Case& c :
       {Case{32, 0, 4, 16}, Case{20, 8, 1, 3}, Case{6, 2, 3, 30}, Case{100, 0, 64, 26}, Case{40, 40, 2, 2}}) {
    const Config config = small_config("stack", whole_numbers({{"length", c.length},
                                                               {"min_length", c.min_length},
                                                               {"stacks", c.stacks},
                                                               {"symbols", c.symbols}}));
    check_contract(config);
    Seen all;
    std::size_t shortest = 1000, longest = 0;
    for (const Words& sequence : sequences_of(*make_task(config))) {
      const Seen seen = check_operations(sequence);
      shortest = std::min(shortest, seen.operations);
      longest = std::max(longest, seen.operations);
      all.deepest = std::max(all.deepest, seen.deepest);
      all.stacks.insert(seen.stacks.begin(), seen.stacks.end());
      all.elements.insert(seen.elements.begin(), seen.elements.end());
    }
    CHECK(shortest == static_cast<std::size_t>(c.min_length == 0 ? c.length : c.min_length));
    CHECK(longest == static_cast<std::size_t>(c.length));
    CHECK(all.stacks.size() == static_cast<std::size_t>(c.stacks));
    CHECK(all.elements.size() == static_cast<std::size_t>(c.symbols));
    CHECK(all.deepest >= 3);
  }
}

TEST_CASE("stacks grow by a fifth of an element at each operation, and the test's are longer if asked",
          "[tasks][stack]") {
  const auto task = make_task(small_config("stack",
                                           whole_numbers({{"length", 60}, {"test_length", 300}, {"stacks", 8}})));
  double left = 0, operations = 0, pops = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Seen seen = check_operations(words_of(*task, training_sequence(*task, lm, 1, i, 0)));
    CHECK(seen.operations == 60);
    left += static_cast<double>(seen.left);
    operations += static_cast<double>(seen.operations);
    pops += static_cast<double>(seen.pops);
  }
  CHECK(pops / operations == Approx(0.4).margin(0.03)); // forced pushes are few, and so is the forced pop
  CHECK(left / operations == Approx(0.2).margin(0.06));
  std::set<std::size_t> lengths;
  for (const Sequence& sequence : evaluation_sequences(*task, lm, Split::test)) {
    const Seen seen = check_operations(words_of(*task, sequence));
    CHECK((seen.operations > 60 && seen.operations <= 300));
    lengths.insert(seen.operations);
  }
  CHECK(lengths.size() > 30);
  for (const Sequence& sequence : evaluation_sequences(*task->of_length(500), lm, Split::test))
    CHECK(check_operations(words_of(*task, sequence)).operations == 500);
}

TEST_CASE("all sequences of operations are drawn as often as they should, and are counted", "[tasks][stack]") {
  struct Case {
    int length, min_length, stacks, symbols;
  };
  for (const Case& c : {Case{5, 5, 2, 3}, Case{6, 2, 1, 2}, Case{4, 2, 5, 2}, Case{5, 4, 3, 2}}) {
    INFO(c.length << " operations, " << c.stacks << " stacks, " << c.symbols << " symbols");
    std::map<std::string, double> probabilities;
    double right = 0, lengths = 0;
    for (int length = c.min_length; length <= c.length; ++length, ++lengths)
      each_sequence(static_cast<std::size_t>(length), static_cast<std::size_t>(c.stacks),
                    static_cast<std::size_t>(c.symbols), [&](const std::string& text, std::size_t pops, double p) {
                      CHECK(probabilities.emplace(text, p).second);
                      right += p * std::pow(c.symbols, -static_cast<double>(pops));
                    });
    double total = 0;
    for (auto& [text, p] : probabilities) total += p /= lengths;
    CHECK(total == Approx(1));
    Config config = task_config("stack", whole_numbers({{"length", c.length},
                                                        {"min_length", c.min_length},
                                                        {"stacks", c.stacks},
                                                        {"symbols", c.symbols}}));
    config.task.validation = config.task.test = 16;
    const auto task = make_task(config);
    CHECK_THAT(task->facts().notes.front(), Contains(fmt::format("about {:.3g} ", double(probabilities.size()))));
    const Task::Chance chance = task->chance(lm);
    CHECK(chance.accuracy == Approx(1.0 / c.symbols));
    CHECK(chance.loss->value == Approx(std::log(c.symbols)));
    CHECK(chance.sequence->value == Approx(right / lengths));
    // Training has only sequences of its own split: those that were ever drawn have their probabilities.
    std::map<std::string, int> drawn;
    constexpr int draws = 40000;
    for (std::int64_t i = 0; i < draws; ++i) ++drawn[task->decode(training_sequence(*task, lm, 3, i, 0).tokens)];
    double of_split = 0;
    for (const auto& [text, count] : drawn) {
      REQUIRE(probabilities.contains(text));
      of_split += probabilities.at(text);
    }
    for (const auto& [text, count] : drawn) {
      const double expected = draws * probabilities.at(text) / of_split;
      if (expected > 30) CHECK(std::abs(count - expected) < 5.5 * std::sqrt(expected));
    }
  }
}

TEST_CASE("very many stacks and operations are counted as very many sequences", "[tasks][stack]") {
  const auto about = [](std::initializer_list<std::pair<const char*, int>> options) {
    return make_task(small_config("stack", whole_numbers(options)))->facts().notes.front();
  };
  CHECK(about({{"length", 300}, {"stacks", 1}, {"symbols", 2}}) ==
        about({{"length", 256}, {"stacks", 1}, {"symbols", 2}}));
  CHECK_THAT(about({{"length", 200}, {"stacks", 4000}, {"symbols", 4000}}), Contains("about inf "));
}

TEST_CASE("stacks say which lengths can't be", "[tasks][stack]") {
  const auto message = [](std::initializer_list<std::pair<const char*, int>> options) {
    return refusal([&] { make_task(task_config("stack", whole_numbers(options))); });
  };
  CHECK(
      message({{"min_length", 1}}) ==
      "[task.stack] min_length = 1 is too short: the last operation is a pop, and the first is a push; take 2 or more, "
      "or 0 (all have the length)");
  CHECK_THAT(message({{"min_length", 40}}), Contains("min_length = 40 is above length = 32"));
  CHECK_THAT(message({{"test_length", 32}}), Contains("test_length = 32 is not above length = 32"));
  CHECK_THAT(message({{"length", 2}, {"stacks", 2}, {"symbols", 3}}),
             Contains("gives only 6 different examples") &&
                 Contains("raise task.stack.length, task.stack.stacks or task.stack.symbols"));
}
