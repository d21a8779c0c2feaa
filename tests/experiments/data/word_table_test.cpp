// Tests of the word table: it gives different texts different numbers, in the order of their first occurrence.
#include "experiments/data/word_table.hpp"

#include "autograd/rng.hpp"
#include "tests/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace heed;

TEST_CASE("words have the numbers that a sorted map gives them", "[words]") {
  for (const auto texts : {WordTable::Texts::copied, WordTable::Texts::lent}) {
    WordTable table(texts);
    std::map<std::string, std::uint32_t, std::less<>> expected;
    RandomSource random({1, Stream::test, 0});
    std::vector<std::string> words;
    for (int i = 0; i < 50000; ++i) {
      std::string word; // words of few letters; some contain zeros and some are long
      for (std::size_t left = random.below(7) == 0 ? 400 : random.below(6); left > 0; --left)
        word += static_cast<char>(random.below(5));
      words.push_back(word);
    }
    for (const std::string& word : words) {
      const auto number = static_cast<std::uint32_t>(expected.size());
      const auto [place, is_new] = expected.emplace(word, number);
      REQUIRE(table.contains(word) == !is_new);
      REQUIRE(table.add(word) == place->second);
    }
    REQUIRE(table.size() == expected.size());
    if (texts == WordTable::Texts::copied)
      for (std::string& word : words) std::ranges::fill(word, 'x'); // the table has copies of its own
    for (const auto& [word, number] : expected) {
      REQUIRE(table.find(word) == number);
      REQUIRE(table[number] == word);
    }
    CHECK(table.find("not there") == WordTable::none);
  }
}
