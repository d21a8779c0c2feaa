// A text with a seed in it, known for all seeds: runs of one arm differ in the seed only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heed {

struct SeedText {
  std::string before, after;

  std::string with(std::int64_t seed) const;

  /// @param with_0, with_1  the text with these seeds. Throws std::logic_error unless they differ in one digit.
  static SeedText between(const std::string& with_0, const std::string& with_1);
  /// Around the seed of the first line "seed = N" of a configuration; none where it has no such line.
  static std::optional<SeedText> around(const std::string& toml, std::int64_t seed);
};

} // namespace heed
