#include "experiments/config/config.hpp"

// Defined here, so that they are compiled once and not in each file that uses Config.

namespace heed {

Config::Config() = default;
Config::Config(const Config&) = default;
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(const Config&) = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

} // namespace heed
