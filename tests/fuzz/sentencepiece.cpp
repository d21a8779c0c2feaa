// Fuzz target: the reader of SentencePiece models. Input: a model file. The model then encodes a fixed text.
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
    // The reader or the encoder may throw Failed with a message, for example for a token that the model does not have.
  }
  return 0;
}
