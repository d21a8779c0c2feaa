// Fuzz target: a configuration file. The resolved configuration, which is saved in a run's folder, must read back as
// the same configuration.
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

namespace {

bool same(const FlatOption& a, const FlatOption& b) {
  return a.key == b.key && a.value == b.value && a.changes_results == b.changes_results && a.identifies == b.identifies;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Config config, again;
  const auto read = [&] {
    const Settings settings = Settings::parse(fuzz::text(data, size), "input.toml");
    config = settings.resolve();
    settings.dropped();
  };
  if (!refusal(read).empty()) return 0;
  const std::string written = to_toml(config);
  const std::string why = refusal([&] { again = Settings::parse(written, "config.toml").resolve(); });
  require(why.empty(), "what was written is refused: " + why + "\n" + written);
  require(to_toml(again) == written, "what was written reads as something else:\n" + written + to_toml(again));
  require(std::ranges::equal(flatten(config), flatten(again), same), "other options: " + written);
  return 0;
}
