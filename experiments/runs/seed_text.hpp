// A text template with a placeholder for the seed. Runs of one arm differ only in the seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heed {

struct SeedText {
  std::string before, after;

  std::string with(std::int64_t seed) const;

  /// @param with_0, with_1  the text with seed 0 and with seed 1. Throws std::logic_error unless they differ in one
  ///          digit.
  static SeedText between(const std::string& with_0, const std::string& with_1);
  /// Splits a configuration at the seed of its first line "seed = N"; none if it has no such line.
  static std::optional<SeedText> around(const std::string& toml, std::int64_t seed);
};

} // namespace heed
