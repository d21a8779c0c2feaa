// Fuzz target: a text file, its alphabet and the token IDs of its characters.
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/tasks/token_text.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/target.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  const std::string_view bytes = fuzz::text(data, size);
  file.hold(bytes);
  DataOptions options;
  options.path = file.path();
  std::optional<TokenText> text;
  if (!refusal([&] { text.emplace(options); }).empty()) return 0;
  const std::int64_t count = text->parts()[2].end;
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  text->copy(0, count, tokens.data());
  require(text->vocabulary().decode(tokens) == without_mark(bytes), "another text comes back");
  for (const std::int32_t token : tokens)
    require(token >= 0 && token < text->vocabulary().size(), "a token is beyond the vocabulary");
  return 0;
}
