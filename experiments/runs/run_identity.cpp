#include "experiments/runs/run_identity.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/numerics.hpp"
#include "experiments/system/content_hash.hpp"

#include <cstddef>
#include <fmt/format.h>

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

} // namespace heed
