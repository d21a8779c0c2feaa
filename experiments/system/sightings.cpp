#include "experiments/system/sightings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

/// What this process knows of a file's present state.
struct Sighting {
  std::string state;
  Clock::time_point first;                                 ///< when it was seen first
  std::array<std::optional<Clock::time_point>, 2> changed; ///< when it began, by each AgeClock
};

struct Sightings {
  std::mutex mutex;
  std::map<std::filesystem::path, Sighting> of; ///< one for each file, so that it stays small

  Sighting& at(const std::filesystem::path& file, const std::string& state) {
    Sighting& sighting = of[file];
    if (sighting.state != state) sighting = {state, Clock::now(), {}};
    return sighting;
  }
};

Sightings& sightings() {
  static Sightings all;
  return all;
}

} // namespace

Clock::duration time_unchanged(const std::filesystem::path& file, const std::string& state, Clock::time_point asked,
                               AgeClock clock, const std::function<double()>& age) {
  Sightings& all = sightings();
  const auto since = [&](const Sighting& sighting) { return sighting.changed.at(static_cast<std::size_t>(clock)); };
  {
    const std::lock_guard lock(all.mutex);
    const Sighting& sighting = all.at(file, state);
    if (since(sighting)) return asked - std::min(sighting.first, *since(sighting));
  }
  // Not under the lock: it may take long.
  constexpr double longest = 1e8; // in seconds, so that the clock's numbers suffice
  const auto old = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::clamp(age(), 0.0,
                                                                                                        longest)));
  const std::lock_guard lock(all.mutex);
  Sighting& sighting = all.at(file, state);
  sighting.changed.at(static_cast<std::size_t>(clock)) = asked - old;
  return asked - std::min(sighting.first, asked - old);
}

} // namespace heed
