#include "experiments/tasks/unknown_tokens.hpp"

#include "experiments/tasks/task.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

void UnknownTokens::add(std::span<const std::int32_t> tokens, std::int32_t token) {
  all += std::ssize(tokens);
  if (token >= 0) unknown += std::ranges::count(tokens, token);
}

std::string token_noun(std::string_view tokens) {
  return tokens == "words" ? "word" : tokens == "bytes" ? "byte" : tokens == "characters" ? "character" : "token";
}

std::string unknown_note(std::string_view what, const std::array<UnknownTokens, 3>& by_split, bool of_set) {
  std::string shares;
  const auto add = [&](Split split, std::string_view name) {
    const UnknownTokens& tokens = by_split[static_cast<std::size_t>(split)];
    if (tokens.unknown == 0) return;
    shares += fmt::format("{}{:.3g} % of {} ({} of {})", shares.empty() ? "" : ", ", 100 * tokens.share(), name,
                          tokens.unknown, tokens.all);
  };
  add(Split::validation, of_set ? "the set" : "validation");
  if (!of_set) {
    add(Split::test, "test");
    add(Split::train, "training");
  }
  return shares.empty() ? "" : fmt::format("{} outside the vocabulary: {}", what, shares);
}

} // namespace heed
