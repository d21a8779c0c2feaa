#include "experiments/runs/start_changes.hpp"

#include "experiments/config/difference.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace heed {

namespace {

/// "attention.score" for "block[2].attention.score".
std::string_view without_block(std::string_view key) {
  if (!key.starts_with("block[")) return key;
  return key.substr(std::min(key.find("].") + 2, key.size()));
}

bool is_of_the_function(std::string_view key) {
  constexpr std::array tables{"model.", "block.", "attention.", "position.", "recurrent."};
  key = without_block(key);
  return !key.ends_with("dropout") && std::ranges::any_of(tables, [&](const char* t) { return key.starts_with(t); });
}

/// The differences from the start. Options of initial values are not among them.
std::vector<Difference> differences_from(const Config& start, Config config) {
  config.train.start_weights = "all"; // with it, options of initial values have no effect, so they have no value
  std::vector<Difference> out = difference(start, config);
  // An option that has no effect here is without a value because of another option that differs.
  std::erase_if(out, [](const Difference& d) { return d.b.empty() || !is_of_the_function(d.key); });
  return out;
}

} // namespace

std::vector<std::string> start_changes(const Config& start, const Config& config) {
  std::vector<std::string> out;
  for (const Difference& d : differences_from(start, config))
    out.push_back(fmt::format("{} {} -> {}", d.key, d.a.empty() ? "(none)" : d.a, d.b));
  return out;
}

std::string why_not_meant(const Config& start, const Config& config) {
  for (const Difference& d : differences_from(start, config)) {
    if (d.a.empty()) continue;
    const std::string_view option = without_block(d.key);
    if (option == "model.heads")
      return fmt::format("it has {} heads and this model {}, so each head would get the rows of others", d.a, d.b);
    if (option == "position.rotary.pairs")
      return fmt::format("its rotary pairs ({} = {}) are other features than here ({})", d.key, d.a, d.b);
  }
  return "";
}

} // namespace heed
