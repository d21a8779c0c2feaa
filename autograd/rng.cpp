#include "autograd/rng.hpp"

#include <Random123/philox.h>

namespace heed {

RandomBlock random_block(const RandomKey& key, std::uint64_t position) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const std::uint64_t place = step_and_stream(key);
  const r123::Philox4x32::ctr_type counter = {{low(position), high(position), low(place), high(place)}};
  const r123::Philox4x32::key_type philox_key = {{low(key.seed), high(key.seed)}};
  const auto bits = r123::Philox4x32{}(counter, philox_key);
  return {bits.v[0], bits.v[1], bits.v[2], bits.v[3]};
}

} // namespace heed
