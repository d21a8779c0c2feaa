#include "experiments/runs/run_identity.hpp"

#include "experiments/config/config.hpp"
#include "experiments/system/content_hash.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <stdexcept>

namespace heed {

namespace {
constexpr std::size_t id_digits = 16;
} // namespace

std::string run_id(const Config& config, std::string_view fingerprint) { return run_id(flatten(config), fingerprint); }

std::string run_id(const std::vector<FlatOption>& options, std::string_view fingerprint) {
  return run_id_of(identity_text(options, fingerprint));
}

std::string run_id_of(std::string_view identity_text) { return content_hash(identity_text).substr(0, id_digits); }

std::string identity_text(const std::vector<FlatOption>& options, std::string_view fingerprint) {
  std::string identity = fmt::format("numerics {}\ndata {}\n", numerics_of(options), fingerprint);
  for (const FlatOption& option : options)
    if (option.identifies) identity += fmt::format("{} = {}\n", option.key, option.value);
  return identity;
}

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
