#include "experiments/runs/seed_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string_view>

namespace heed {

std::string SeedText::with(std::int64_t seed) const { return fmt::format("{}{}{}", before, seed, after); }

SeedText SeedText::between(const std::string& with_0, const std::string& with_1) {
  const auto [here, there] = std::ranges::mismatch(with_0, with_1);
  const bool once = here != with_0.end() && there != with_1.end() && *here == '0' && *there == '1' &&
                    std::equal(here + 1, with_0.end(), there + 1, with_1.end());
  if (!once) throw std::logic_error("a seed does not stand in a text just once");
  return {{with_0.begin(), here}, {here + 1, with_0.end()}};
}

std::optional<SeedText> SeedText::around(const std::string& toml, std::int64_t seed) {
  constexpr std::string_view key = "\nseed = ";
  const std::string line = fmt::format("{}{}\n", key, seed);
  const std::size_t at = toml.find(line);
  if (at == std::string::npos) return std::nullopt;
  return SeedText{toml.substr(0, at + key.size()), toml.substr(at + line.size() - 1)};
}

} // namespace heed
