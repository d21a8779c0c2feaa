// The distributions that a sweep of kind `random` draws from.
#pragma once

#include "experiments/config/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A distribution, as `{ NAME = [...] }` states it for one option.
struct Distribution {
  std::string name;
  std::string takes;                                ///< what its list holds, in words
  std::string (*wrong)(const Option&, const Draw&); ///< what is wrong with the list; empty where nothing is
  Value (*draw)(const std::vector<Change>& values, std::uint64_t bits); ///< from 64 random bits
};

/// - uniform = [a, b]: x = a + (b - a) u, u uniform in [0, 1)
/// - log_uniform = [a, b]: x = a (b / a)^u, 0 < a < b, so that every factor is as likely
/// - int_uniform = [a, b]: a whole number from a to b, both included
/// - choice = [...]: one of the values
/// Real numbers are rounded to four significant digits, and kept within their bounds: what a table or a paper shows is
/// what ran, and another machine's last digit of a logarithm can't make another arm.
const std::vector<Distribution>& distributions();
const Distribution* find_distribution(std::string_view name);
std::vector<std::string> distribution_names();

/// Draw number `index` of an option, by Philox under the block's seed (Stream::sweep). It depends on the seed, the
/// option's name and the number alone: more arms, or another option beside it, leave it as it is.
Value drawn_value(const Draw& draw, std::int64_t seed, std::int64_t index);

} // namespace heed
