// Fuzz target: a vocabulary built from a training text, and another text encoded with it. Input: one byte of choices,
// the training text, NUL, the other text.
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/data/vocabulary.hpp"
#include "tests/fuzz/target.hpp"

#include <array>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

namespace {

void check_text(const Vocabulary& vocabulary, std::string_view text, bool learnt) {
  std::vector<std::int32_t> tokens, again;
  if (!refusal([&] { vocabulary.encode(text, tokens); }).empty()) return;
  bool known = true;
  for (const std::int32_t token : tokens) {
    require(token >= 0 && token < vocabulary.size(), "a token that does not exist");
    known = known && token != vocabulary.unknown();
    vocabulary.show(token);
    require(refusal([&] { require_utf8(vocabulary.label(token), "label"); }).empty(), "a label that is not UTF-8");
  }
  require(known || !learnt, "the vocabulary does not know what it was made from");
  if (!known) return;
  const std::string why = refusal([&] { vocabulary.encode(vocabulary.decode(tokens), again); });
  require(why.empty() && tokens == again, "the text of tokens has other tokens: " + why);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned choices = data[0];
  std::string_view rest = fuzz::text(data + 1, size - 1);
  const std::string_view training = fuzz::next_part(rest);
  // File readers refuse text that is not UTF-8 before a vocabulary receives it.
  if (!refusal([&] { require_utf8(training, "training"); }).empty()) return 0;
  static const std::array<std::string, 4> kinds{"words", "words", "bytes", "characters"};
  DataOptions options;
  options.tokens = kinds[choices % 4];
  options.min_count = 1 + (choices >> 2) % 4;
  options.max_vocabulary = (choices >> 4) % 8;
  const std::array<std::string_view, 1> texts{training};
  const auto vocabulary = make_vocabulary(options, texts, choices >> 7);
  const bool knows_all = options.tokens != "words" || (options.min_count == 1 && options.max_vocabulary == 0);
  check_text(*vocabulary, training, knows_all);
  check_text(*vocabulary, rest, false);
  return 0;
}
