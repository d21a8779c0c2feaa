// The sources of chance of a run, of which each can have a seed of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace heed {

struct Config;

struct ChanceSource {
  std::string_view name;                 ///< in [sweep] vary: "init"
  std::string_view option;               ///< of its own seed: "init.seed"
  std::string_view in_words;             ///< in reports: "initial weights"
  std::uint64_t (Config::*seed)() const; ///< the seed that a configuration gives it
  bool follows_seed;                     ///< without its own seed it has `seed`, so that replicates have different ones
};

/// init, order, dropout and split, in this order.
std::span<const ChanceSource> chance_sources();
/// The source of this name; null if there is none.
const ChanceSource* find_chance_source(std::string_view name);

} // namespace heed
