// Examples of input and output, end to end in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed {

class ExampleList {
public:
  std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }

  void add(std::span<const std::int32_t> input, std::span<const std::int32_t> output) {
    const std::size_t begin = tokens_.size(), middle = begin + input.size();
    tokens_.insert(tokens_.end(), input.begin(), input.end());
    tokens_.insert(tokens_.end(), output.begin(), output.end());
    places_.push_back({begin, middle, tokens_.size()});
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
    return std::span(tokens_).subspan(place.output, place.end - place.output);
  }

private:
  struct Place {
    std::size_t input, output, end;
  };
  const Place& at(std::int64_t i) const { return places_.at(static_cast<std::size_t>(i)); }

  std::vector<std::int32_t> tokens_;
  std::vector<Place> places_;
};

} // namespace heed
