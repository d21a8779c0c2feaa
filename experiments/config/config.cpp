#include "experiments/config/config.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/formulas.hpp"

// Defined here, so that they are compiled once and not in each file that uses Config.

namespace heed {

Config::Config() = default;
Config::Config(const Config&) = default;
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(const Config&) = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

namespace {

/// The rank of an option: the order of the catalogue, with the options of single blocks after all others.
std::size_t place_of(const std::string& key) {
  const std::vector<std::string>& keys = all_keys();
  const std::string_view option = key.starts_with(formula_parameters_prefix) ? formula_parameters_key : key;
  return static_cast<std::size_t>(std::find(keys.begin(), keys.end(), option) - keys.begin());
}

} // namespace

std::vector<Difference> difference(const Config& a, const Config& b) {
  std::map<std::pair<std::size_t, std::string>, Difference> found;
  for (const FlatOption& option : flatten(a))
    found[{place_of(option.key), option.key}] = {option.key, option.value, ""};
  for (const FlatOption& option : flatten(b)) {
    Difference& d = found[{place_of(option.key), option.key}];
    d.key = option.key;
    d.b = option.value;
  }
  std::vector<Difference> out;
  for (auto& [place, d] : found)
    if (d.a != d.b) out.push_back(std::move(d));
  return out;
}

Config default_config() { return Settings().resolve(); }

} // namespace heed
