// A run's ID: a hash of the options that differ from their defaults and can change results, of the data and of the
// numerics. Runs of one arm differ only in the seed, so their configurations are one text with a place for the seed.
#pragma once

#include "experiments/config/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A run's ID, 16 hexadecimal digits: a hash of the seed, the options that differ from their defaults and can change a
/// result (FlatOption::identifies), the data (the task's `fingerprint()`) and the numerics (`numerics_of`).
std::string run_id(const Config& config, std::string_view fingerprint);
std::string run_id(const std::vector<FlatOption>& options, std::string_view fingerprint);
/// The text that is hashed, and the ID of such a text.
std::string identity_text(const std::vector<FlatOption>& options, std::string_view fingerprint);
std::string run_id_of(std::string_view identity_text);

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
