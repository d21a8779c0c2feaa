// A text with a seed in it, known for all seeds: what runs of one arm differ in is the seed alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heed {

class SeedText {
public:
  /// @param with_0, with_1  the text with these seeds. Throws std::logic_error where the seed doesn't stand in it once.
  SeedText(std::string with_0, const std::string& with_1);
  std::string with(std::int64_t seed) const;

private:
  std::string text_;
  std::size_t at_ = 0;
};

} // namespace heed
