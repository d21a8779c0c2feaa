// Examples of input and output, end to end in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed {

class ExampleList {
public:
  std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }

  /// @param counts  of each output token, whether it is a target: 1 or 0; empty: all are
  void add(std::span<const std::int32_t> input, std::span<const std::int32_t> output,
           std::span<const std::int32_t> counts = {}) {
    const std::size_t begin = tokens_.size(), middle = begin + input.size(), end = middle + output.size();
    for (const auto part : {input, output, counts}) tokens_.insert(tokens_.end(), part.begin(), part.end());
    places_.push_back({begin, middle, end, tokens_.size()});
  }

  /// The last example again, so many times in all, without copies.
  void repeat_last(std::int64_t times) {
    const Place last = places_.back();
    places_.insert(places_.end(), static_cast<std::size_t>(times - 1), last);
  }

  std::span<const std::int32_t> input(std::int64_t i) const {
    const Place& place = at(i);
    return std::span(tokens_).subspan(place.input, place.output - place.input);
  }
  std::span<const std::int32_t> output(std::int64_t i) const {
    const Place& place = at(i);
    return std::span(tokens_).subspan(place.output, place.counts - place.output);
  }
  /// Of each output token, whether it is a target; empty: all are.
  std::span<const std::int32_t> counts(std::int64_t i) const {
    const Place& place = at(i);
    return std::span(tokens_).subspan(place.counts, place.end - place.counts);
  }

private:
  struct Place {
    std::size_t input, output, counts, end;
  };
  const Place& at(std::int64_t i) const { return places_.at(static_cast<std::size_t>(i)); }

  std::vector<std::int32_t> tokens_;
  std::vector<Place> places_;
};

} // namespace heed
