// Tests of the hints for words that other libraries and papers use.
#include "autograd/error.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/schema.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/unknown_names.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) out.push_back(at->str(1));
  return out;
}

std::string wrong_override(const std::string& override) {
  return refusal([&] {
    Settings settings = Settings::parse("", "x.toml");
    settings.override_with({override});
    settings.resolve();
  });
}

} // namespace

TEST_CASE("every hint is for a word that does not exist, and names what does", "[config]") {
  const std::regex key(R"(([a-z]+(?:\.[a-z_0-9]+)+))"), quoted(R"('([^']+)')");
  for (const Hint& hint : hints()) {
    const std::string where(hint.where), in_heed(hint.in_heed);
    CAPTURE(where, in_heed);
    std::vector<std::string> words; // that may stand in quotes
    if (where == "report.metric") {
      CHECK(find_option(where));
    } else if (where.front() == '[') {
      const std::string table = where.substr(1, where.size() - 2);
      CHECK((table == "sweep" || find_table(table)));
      for (const std::string_view word : hint.words) CHECK_FALSE(find_option(full_name(table, word)));
    } else if (where != "--") {
      const Option* option = find_option(where);
      REQUIRE(option);
      words = option->words;
      for (const std::string_view word : hint.words) CHECK(std::ranges::count(words, word) == 0);
    }
    for (const std::string& named : all_matches(in_heed, key)) {
      CHECK((named == "sweep.seeds" || named == "sweep.reference" || named == "sweep.block" || find_option(named)));
      if (const Option* option = find_option(named))
        words.insert(words.end(), option->words.begin(), option->words.end());
    }
    for (const std::string& word : all_matches(in_heed, quoted)) CHECK(std::ranges::count(words, word) > 0);
  }
}

TEST_CASE("words from elsewhere are answered by Heed's", "[config]") {
  CHECK_THAT(wrong_override("position.kind=RoPE"), Contains("; in Heed, this is 'rotary'"));
  CHECK_THAT(wrong_override("attention.qk-norm=true"), Contains("; in Heed, this is attention.query_key_norm"));
  CHECK_THAT(wrong_override("attention.score=softmax"), Contains("; 'softmax' is a word of attention.normalizer"));
  CHECK_THAT(wrong_override("attention.score=aditive"), Contains("; did you mean 'additive'?"));
  CHECK(hint_for("position.kind", "quantum").empty());
  CHECK_THAT(wrong_override("train.weight_decay=0.1"), Contains("; in Heed, this is train.adamw.weight_decay"));
  for (const auto& [word, key] : std::vector<std::pair<std::string, std::string>>{{"nhead", "model.heads"},
                                                                                  {"n_head", "model.heads"},
                                                                                  {"num_heads", "model.heads"},
                                                                                  {"d_model", "model.width"},
                                                                                  {"hidden_size", "model.width"},
                                                                                  {"n_layer", "model.layers"},
                                                                                  {"n_layers", "model.layers"},
                                                                                  {"lr", "train.learning_rate"},
                                                                                  {"batch_size", "train.batch"},
                                                                                  {"epochs", "train.steps"},
                                                                                  {"block_size", "task.text.block"},
                                                                                  {"context_length", "task.text.block"},
                                                                                  {"vocab_size", "data.max_vocabulary"},
                                                                                  {"train.nhead", "model.heads"}})
    CHECK_THAT(wrong_override(word + "=2"), Contains("; in Heed, this is " + key));
  CHECK_THAT(wrong_override("dropout=0.1"), Contains("'model.dropout'") && Contains("'attention.dropout'"));
  CHECK_THAT(wrong_override("attention.score=tanh(s)"),
             Contains("; a formula belongs to attention.score_mod, such as score_mod = "));
  CHECK_THAT(wrong_override("train.evaluate_lengths=13-24"), Contains("for example: evaluate_lengths = [8, 16]"));
  CHECK_THAT(refusal([] { Settings::parse("[sweep]\nreference_name = \"x\"\n", "x.toml"); }),
             Contains("; in Heed, this is sweep.reference"));
  CHECK(hint_for("--", "--Batch-Size") == "; in Heed, this is train.batch=N, without dashes");
}

TEST_CASE("a text without quotes is said to need them", "[config]") {
  const auto said = [](const std::string& text) { return refusal([&] { Settings::parse(text, "x.toml"); }); };
  CHECK_THAT(said("seed = 1\n[task]\nkind = copy # as usual\nx = 1"),
             Contains("x.toml:3:8: this is not TOML") && Contains("; a text needs quotes: kind = \"copy\""));
  CHECK_THAT(said("[attention]\ncausal = False"), Contains("; write causal = false") && !Contains("quotes"));
  CHECK_THAT(said("[attention]\nwindow = None"), Contains("left out") && !Contains("quotes"));
  CHECK_THAT(said("[task]\nkind ="), Contains("this is not TOML") && !Contains("quotes"));
  CHECK_THAT(said("[task]\nkind = 3x"), Contains("this is not TOML") && !Contains("quotes"));
}

TEST_CASE("the options of a name are shown, whatever their tables", "[config]") {
  CHECK(options_text("learning_rate") == options_text("train.learning_rate"));
  CHECK_THAT(options_text("dropout"), Contains("[attention]") && Contains("[block]") && Contains("[model]"));
  CHECK_THROWS_AS(options_text("learning_rat"), Refused);
  CHECK_THAT(options_text("weight"),
             Contains("\nweight_decay = ") && Contains("\ntied_embeddings = ") && !Contains("\nlearning_rate = "));
  CHECK_THAT(options_text("punctuation"), Contains("\ntokens = "));
  CHECK_THROWS_AS(options_text("we"), Refused);
}
