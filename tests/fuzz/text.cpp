// A text file: its alphabet and its characters' numbers.
#include "experiments/data/text_file.hpp"
#include "tests/fuzz/target.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Text text;
  const std::string_view bytes = fuzz::text(data, size);
  if (!refusal([&] { text = text_of(bytes, "input.txt"); }).empty()) return 0;
  std::u32string characters;
  for (const std::uint16_t token : text.tokens) {
    characters += text.alphabet.at(token);
    require(find_character(text.alphabet, characters.back()) == token, "a character has two numbers");
  }
  require(to_utf8(characters) == bytes, "another text comes back");
  return 0;
}
