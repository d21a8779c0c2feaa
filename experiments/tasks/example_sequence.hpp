// Examples (input tokens, output tokens, and which output tokens are targets): a list of them, contiguous in memory,
// and an example as a sequence of a batch, in each format.
#pragma once

#include "experiments/tasks/task.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// Marks an absent token.
inline constexpr std::int32_t no_token = -1;

/// The tokens that a sequence has in addition to its example; `no_token` for an absent one.
struct SequenceTokens {
  std::string_view task;             ///< the task's kind, for errors
  std::int32_t separator = no_token; ///< language_model: between input and output
  std::int32_t begin = no_token;     ///< sequence_to_sequence: the first token that the decoder reads
  std::int32_t end = no_token;       ///< ends the output, as its last target
  std::int32_t first_label = 0;      ///< classification: the output token of class 0
};

/// Writes sequence `at` of a batch that has been reset:
/// - language_model: the tokens are input, separator and output, without the last target;
/// - sequence_to_sequence: the input; the decoder reads begin and output; the targets are output and end;
/// - classification: the input; the class is the first output token.
/// Throws heed::Failed if the sequence does not fit.
/// @param counts  0 for output tokens that are not targets; empty: all are. The end token is always a target
void write_example(const SequenceTokens& with, TaskFormat format, std::span<const std::int32_t> input,
                   std::span<const std::int32_t> output, Batch& batch, std::int64_t at,
                   std::span<const std::int32_t> counts = {});

/// Writes sequence `at` of a language model's batch that has been reset: the tokens, and for each position its target
/// or `ignored`. Throws heed::Failed if the sequence does not fit.
void write_places(const std::string& task, std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets,
                  Batch& batch, std::int64_t at);

class ExampleList {
public:
  /// The position of an example in the array of tokens.
  struct Place {
    std::uint64_t begin = 0; ///< start of the input; the output and then the target flags follow
    std::uint32_t input = 0, output = 0, counts = 0;
    std::uint32_t unused = 0; ///< padding, so that all bytes are initialised
  };

  ExampleList() = default;
  /// Examples in memory that `owner` owns.
  ExampleList(std::span<const std::int32_t> tokens, std::span<const Place> places, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), lent_tokens_(tokens), lent_places_(places) {}

  std::int64_t size() const { return static_cast<std::int64_t>(places().size()); }

  /// @param counts  for each output token, 1 if it is a target, else 0; empty: all are targets
  void add(std::span<const std::int32_t> input, std::span<const std::int32_t> output,
           std::span<const std::int32_t> counts = {}) {
    places_.push_back({tokens_.size(), length(input), length(output), length(counts)});
    for (const auto part : {input, output, counts}) tokens_.insert(tokens_.end(), part.begin(), part.end());
  }

  /// Repeats the last example, so that it occurs `times` times in total, without copying tokens.
  void repeat_last(std::int64_t times) {
    const Place last = places_.back();
    places_.insert(places_.end(), static_cast<std::size_t>(times - 1), last);
  }

  std::span<const std::int32_t> input(std::int64_t i) const {
    const Place& place = at(i);
    return tokens().subspan(place.begin, place.input);
  }
  std::span<const std::int32_t> output(std::int64_t i) const {
    const Place& place = at(i);
    return tokens().subspan(place.begin + place.input, place.output);
  }
  /// For each output token, 1 if it is a target, else 0; empty: all are targets.
  std::span<const std::int32_t> counts(std::int64_t i) const {
    const Place& place = at(i);
    return tokens().subspan(place.begin + place.input + place.output, place.counts);
  }

  std::span<const std::int32_t> tokens() const { return owner_ ? lent_tokens_ : tokens_; }
  std::span<const Place> places() const { return owner_ ? lent_places_ : places_; }

private:
  static std::uint32_t length(std::span<const std::int32_t> part) { return static_cast<std::uint32_t>(part.size()); }
  const Place& at(std::int64_t i) const { return places()[static_cast<std::size_t>(i)]; }

  std::vector<std::int32_t> tokens_;
  std::vector<Place> places_;
  std::shared_ptr<const void> owner_; // null: the examples are in the vectors
  std::span<const std::int32_t> lent_tokens_;
  std::span<const Place> lent_places_;
};

} // namespace heed
