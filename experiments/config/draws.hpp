// The distributions from which a sweep block of kind `random` draws its values.
#pragma once

#include "experiments/config/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A distribution. A sweep file writes it as `{ NAME = [...] }` for one option.
struct Distribution {
  std::string name;
  std::string takes;                                ///< a description of the list's contents
  std::string (*wrong)(const Option&, const Draw&); ///< the error in the list; empty if there is none
  Value (*draw)(const std::vector<Change>& values, std::uint64_t bits); ///< from 64 random bits
};

/// - uniform = [a, b]: x = a + (b - a) u, u uniform in [0, 1)
/// - log_uniform = [a, b]: x = a (b / a)^u, 0 < a < b, so that every factor is as likely
/// - int_uniform = [a, b]: a whole number from a to b, both included
/// - choice = [...]: one of the values
/// Real numbers are rounded to four significant digits and clamped to their bounds. So the value in a table or a paper
/// is exactly the value of the run, and a logarithm that differs in its last digit on another machine does not give a
/// different arm.
const std::vector<Distribution>& distributions();
const Distribution* find_distribution(std::string_view name);
std::vector<std::string> distribution_names();

/// Draw number `index` of an option, by Philox with the block's seed (Stream::sweep). It only depends on the seed, the
/// option's name and the index. So more arms, or another option in the block, do not change it.
Value drawn_value(const Draw& draw, std::int64_t seed, std::int64_t index);

} // namespace heed
