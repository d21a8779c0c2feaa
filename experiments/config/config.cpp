#include "experiments/config/config.hpp"

// Compiled once, and not in each file that has a configuration.

namespace heed {

Config::Config() = default;
Config::Config(const Config&) = default;
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(const Config&) = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

} // namespace heed
