// Tests of vocabularies: built only from training data, text to tokens and back, and a token for unknown words.
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/data/vocabulary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <sentencepiece_trainer.h>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

using Tokens = std::vector<std::int32_t>;

std::shared_ptr<const Vocabulary> vocabulary(DataOptions data, std::vector<std::string_view> texts,
                                             bool line_ends = false) {
  return make_vocabulary(data, texts, line_ends);
}

DataOptions tokens(const std::string& kind) {
  DataOptions data;
  data.tokens = kind;
  return data;
}

Tokens encoded(const Vocabulary& v, std::string_view text) {
  Tokens out;
  v.encode(text, out);
  return out;
}

} // namespace

TEST_CASE("words: the commonest first, with an unknown one", "[vocabulary]") {
  const auto v = vocabulary(tokens("words"), {"the cat saw the\tdog", " the  dog\r\n", ""});
  REQUIRE(v->size() == 5); // <unknown> the dog cat saw
  CHECK(v->unknown() == 0);
  CHECK(encoded(*v, "the dog cat saw") == Tokens{1, 2, 3, 4});
  CHECK(encoded(*v, "a dog The") == Tokens{0, 2, 0});
  CHECK(v->decode(Tokens{1, 0, 3}) == "the <unknown> cat");
  CHECK(encoded(*v, " \n ").empty());
}

TEST_CASE("words: rare ones and those beyond the size become unknown", "[vocabulary]") {
  DataOptions data = tokens("words");
  data.min_count = 2;
  const auto common = vocabulary(data, {"a a a b b c"});
  CHECK(common->size() == 3);
  CHECK(encoded(*common, "a b c") == Tokens{1, 2, 0});
  data = tokens("words");
  data.max_vocabulary = 2;
  const auto small = vocabulary(data, {"a a a b b c"});
  CHECK(small->size() == 2);
  CHECK(encoded(*small, "a b c") == Tokens{1, 0, 0});
}

TEST_CASE("words: line ends are words where they are asked for", "[vocabulary]") {
  const auto with = vocabulary(tokens("words"), {"a b\nb b\n"}, true);
  CHECK(with->size() == 4); // <unknown> b "\n" a
  CHECK(encoded(*with, "a b\n\nb") == Tokens{3, 1, 2, 2, 1});
  CHECK(with->decode(Tokens{3, 1, 2, 2, 1}) == "a b\n\nb");
  CHECK(with->show(2) == "line end");
  CHECK(vocabulary(tokens("words"), {"a b\nb b\n"})->size() == 3);
}

TEST_CASE("characters: by code point, with an unknown one after them", "[vocabulary]") {
  const auto v = vocabulary(tokens("characters"), {"bä", "ab"});
  CHECK(v->size() == 4);
  CHECK(v->unknown() == 3);
  CHECK(encoded(*v, "äba€") == Tokens{2, 1, 0, 3});
  CHECK(v->decode(Tokens{2, 1, 0, 3}) == "äba\uFFFD");
  CHECK(v->show(3) == "<unknown>");
  const auto strict = character_vocabulary({U'a', U'b'}, false);
  CHECK(strict->unknown() == -1);
  CHECK_THAT(refusal([&] { (void)encoded(*strict, "c"); }), Contains("\"c\" (U+0063) does not occur"));
}

TEST_CASE("bytes: all 256, none unknown", "[vocabulary]") {
  const auto v = vocabulary(tokens("bytes"), {});
  CHECK(v->size() == 256);
  CHECK(encoded(*v, "é\n") == Tokens{0xc3, 0xa9, 10});
  CHECK(v->decode(Tokens{0xc3, 0xa9, 10}) == "é\n");
  CHECK(v->show(10) == "0x0A");
}

TEST_CASE("sentencepiece: the library's own pieces", "[vocabulary]") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "the cat saw the dog and the dog saw number " + std::to_string(i) + "\n";
  const TemporaryFile corpus(text);
  const std::string prefix = corpus.path() + "-model";
  const auto status = sentencepiece::SentencePieceTrainer::Train("--input=" + corpus.path() +
                                                                 " --model_prefix=" + prefix +
                                                                 " --vocab_size=40 --model_type=bpe --minloglevel=2");
  REQUIRE(status.ok());
  DataOptions data = tokens("sentencepiece");
  data.sentencepiece = prefix + ".model";
  const auto v = vocabulary(data, {});
  CHECK(v->size() == 40);
  const Tokens cat = encoded(*v, "the cat saw the dog");
  CHECK(v->decode(cat) == "the cat saw the dog");
  CHECK(cat.size() < 10);
  std::string pieces;
  for (const std::int32_t token : cat) pieces += v->show(token);
  CHECK(pieces == "\u2581the\u2581cat\u2581saw\u2581the\u2581dog");
  CHECK(v->show(cat[0]).starts_with("\u2581"));
  CHECK(encoded(*v, "\u0416").back() == v->unknown());
  CHECK(v->fingerprint() == fingerprint_of(read_data_file("data", "sentencepiece", data.sentencepiece)));
  std::filesystem::remove(prefix + ".model");
  std::filesystem::remove(prefix + ".vocab");

  data.sentencepiece = corpus.path();
  CHECK_THAT(refusal([&] { vocabulary(data, {}); }), Contains("is not a SentencePiece model"));
  data.sentencepiece = "";
  CHECK_THAT(refusal([&] { vocabulary(data, {}); }), Contains("[data] sentencepiece is empty"));
}

TEST_CASE("a token that does not exist fails", "[vocabulary]") {
  for (const char* kind : {"characters", "bytes", "words"}) {
    const auto v = vocabulary(tokens(kind), {"ab ab"});
    for (const std::int32_t token : {-1, static_cast<std::int32_t>(v->size())})
      CHECK_THAT(failure([&] { (void)v->decode(Tokens{token}); }), Contains("does not exist"));
  }
}

TEST_CASE("a token by itself is UTF-8, whatever it is, and has no quotes", "[vocabulary]") {
  const auto bytes = vocabulary(tokens("bytes"), {});
  CHECK(bytes->label('a') == "a");
  CHECK(bytes->label(' ') == " ");
  CHECK(bytes->label('\n') == "\n");
  CHECK(bytes->label(0xC3) == "0xC3");
  const auto characters = vocabulary(tokens("characters"), {"b\u00e9\n"});
  CHECK(characters->label(0) == "\n");
  CHECK(characters->label(2) == "\u00e9");
  CHECK(characters->label(characters->unknown()) == "\uFFFD");
  const auto words = vocabulary(tokens("words"), {"the cat"}, true);
  CHECK(words->label(words->unknown()) == "<unknown>");
  CHECK(words->label(encoded(*words, "cat").at(0)) == "cat");
}
