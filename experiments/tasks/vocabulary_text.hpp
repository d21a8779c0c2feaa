// The vocabulary of a task as JSON, for readers and other programs; and the share of tokens in each split that stand
// for text outside the vocabulary.
#pragma once

#include "experiments/tasks/task.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// A JSON object with lists of texts; the index in a list is the token's number:
/// - "tokens": what the model reads, each as Task::token_text gives it (a line feed is "\n");
/// - "output_tokens": sequence_to_sequence, if outputs have other token numbers than inputs;
/// - "classes": classification.
/// Each text has its own line. Empty for images, because they have no vocabulary.
std::string vocabulary_json(const Task& task, TaskFormat format);

/// Tokens of one split.
struct UnknownTokens {
  std::int64_t unknown = 0, all = 0;

  /// Counts tokens, where `token` is the vocabulary's unknown token; -1: there is none.
  void add(std::span<const std::int32_t> tokens, std::int32_t token);
  double share() const { return all > 0 ? static_cast<double>(unknown) / static_cast<double>(all) : 0; }
};

/// The share of validation from which unknown tokens are a likely mistake, because losses and accuracies count each of
/// them as one word.
inline constexpr double many_unknown = 0.05;

/// The noun for a token of [data] tokens: "word", "character", "byte" or "token".
std::string token_noun(std::string_view tokens);

/// "words outside the vocabulary: 3.1 % of validation (12 of 390), 2 % of test (4 of 200)": the splits that have some,
/// training last; empty if none has any. Only validation counts for a further validation set, and is called the set.
/// @param what  "words", or "words of inputs"
std::string unknown_note(std::string_view what, const std::array<UnknownTokens, 3>& by_split, bool of_set);

} // namespace heed
