// A SentencePiece model. Input: a model's file; a text that doesn't depend on it goes through.
#include "experiments/config/config.hpp"
#include "experiments/data/vocabulary.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  file.hold(fuzz::text(data, size));
  DataOptions options;
  options.tokens = "sentencepiece";
  options.sentencepiece = file.path();
  std::shared_ptr<const Vocabulary> vocabulary;
  if (!refusal([&] { vocabulary = make_vocabulary(options, {}); }).empty()) return 0;
  std::vector<std::int32_t> tokens;
  const auto use = [&] {
    vocabulary->encode("the cat sat on a mat", tokens);
    for (const std::int32_t token : tokens) vocabulary->label(token);
    vocabulary->decode(tokens);
  };
  try {
    refusal(use);
  } catch (const Failed&) {
    // A token that the model does not have, said in words.
  }
  return 0;
}
