// Fuzz target: UTF-8 to code points and back.
#include "experiments/data/text_file.hpp"
#include "tests/fuzz/target.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text(data, size);
  std::u32string characters;
  const std::string why = refusal([&] { characters = from_utf8(bytes, "input.txt"); });
  require(why == refusal([&] { require_utf8(bytes, "input.txt"); }), "refused by one reader alone");
  if (!why.empty()) return 0;
  require(to_utf8(characters) == bytes, "other bytes come back");
  for (const char32_t c : characters) {
    require(c < 0x110000 && (c < 0xD800 || c > 0xDFFF), "this is no character");
    require(!show_character(c).empty(), "a character can't be shown");
  }
  return 0;
}
