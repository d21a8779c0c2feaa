#include "experiments/system/content_hash.hpp"

#include <fmt/format.h>
#include <new>
#include <xxhash.h>

namespace heed {
namespace {

std::string in_digits(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

} // namespace

std::string content_hash(std::string_view bytes) { return in_digits(XXH3_128bits(bytes.data(), bytes.size())); }

ContentHash::ContentHash() : state_(XXH3_createState(), [](XXH3_state_t* state) { XXH3_freeState(state); }) {
  if (!state_ || XXH3_128bits_reset(state_.get()) == XXH_ERROR) throw std::bad_alloc();
}

void ContentHash::add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }

std::string ContentHash::text() const { return in_digits(XXH3_128bits_digest(state_.get())); }

} // namespace heed
