// Tests that BLEU and chrF2 equal those of sacreBLEU 2.6.0. generate_translation_scores.py wrote sacreBLEU's scores to
// tests/fixtures/translation_scores.json.
#include "autograd/error.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/metrics/text/translation_scores.hpp"
#include "tests/catch.hpp"
#include "tests/fixtures/fixture.hpp"

#include <boost/json.hpp>

using namespace heed;
namespace json = boost::json;

namespace {

json::object cases() { return json::parse(fixture_text("translation_scores")).as_object(); }

std::vector<std::string> texts(const json::value& list) { return json::value_to<std::vector<std::string>>(list); }

} // namespace

TEST_CASE("BLEU and chrF2 of a corpus are sacreBLEU's", "[metrics]") {
  const json::object all = cases();
  CHECK(all.size() == 14);
  for (const auto& [name, value] : all) {
    INFO(std::string(name));
    const json::object& c = value.as_object();
    const auto outputs = texts(c.at("outputs")), references = texts(c.at("references"));
    for (const std::string& tokenization : bleu_tokenizations()) {
      INFO(tokenization);
      CHECK(corpus_bleu(outputs, references, tokenization) ==
            Approx(c.at("bleu").at(tokenization).to_number<double>()).margin(1e-9));
    }
    CHECK(corpus_chrf(outputs, references) == Approx(c.at("chrf").to_number<double>()).margin(1e-9));
  }
}

TEST_CASE("the words of each tokenization are sacreBLEU's", "[metrics]") {
  CHECK(bleu_tokenizations() == std::vector<std::string>{"13a", "none", "intl", "char"});
  CHECK_THROWS_AS(bleu_tokenizer("14"), Failed);
  for (const auto& [name, value] : cases()) {
    const json::object& c = value.as_object();
    const auto outputs = texts(c.at("outputs"));
    for (const auto& [tokenization, lines] : c.at("tokens").as_object())
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        INFO(std::string(tokenization) << ": " << outputs[i]);
        std::string words;
        for (const std::u32string& word : bleu_tokenizer(tokenization)(outputs[i]))
          words += (words.empty() ? "" : " ") + to_utf8(word);
        CHECK(words == json::value_to<std::string>(lines.at(i)));
      }
  }
}

TEST_CASE("the scores of parts add up by their counts, not by their means", "[metrics]") {
  const std::vector<std::string> outputs = {"the cat saw the dog", "a dog ran home quickly"},
                                 references = {"the cat saw a dog", "the dog ran home quickly"};
  BleuCounts bleu;
  ChrfCounts chrf;
  for (std::size_t i = 0; i < 2; ++i) {
    bleu.add(outputs[i], references[i], bleu_tokenizer("13a"));
    chrf.add(outputs[i], references[i]);
  }
  CHECK(bleu.score() == corpus_bleu(outputs, references));
  CHECK(chrf.score() == corpus_chrf(outputs, references));
  // By hand: 8 of 10 words; of 8 bigrams: the cat, cat saw, dog ran, ran home, home quickly; of 6 trigrams: the cat
  // saw, dog ran home, ran home quickly; of 4 4-grams: dog ran home quickly.
  CHECK(bleu.right == std::array<std::int64_t, 4>{8, 5, 3, 1});
  CHECK(bleu.all == std::array<std::int64_t, 4>{10, 8, 6, 4});
  CHECK(bleu.score() == Approx(100 * std::pow(0.8 * 0.625 * 0.5 * 0.25, 0.25)));
}

TEST_CASE("bytes that are no text count as something else, and lists of unequal lengths fail", "[metrics]") {
  const std::vector<std::string> broken = {"the cat \xff saw it"}, whole = {"the cat saw it"};
  CHECK(corpus_bleu(broken, whole) < 100);
  CHECK(corpus_chrf(broken, whole) < 100);
  CHECK_THROWS_AS(corpus_bleu(broken, {}), Failed);
  CHECK_THROWS_AS(corpus_chrf(broken, {}), Failed);
}
