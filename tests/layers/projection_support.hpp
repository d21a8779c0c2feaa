// Test support for projections: their settings.
#pragma once

#include "layers/attention/projection.hpp"
#include "layers/position/position.hpp"
#include "tests/layers/layer_support.hpp"

namespace heed::HEED_REAL {

/// The settings of a projection: each option by itself, without odd widths of rotated features, and several together.
inline std::vector<Setup> projection_setups(const ProjectionInfo& info) {
  std::vector<Setup> out = setups(info.about);
  std::erase_if(out, [](const Setup& setup) {
    const auto width = setup.options.find("rotary_width");
    return width != setup.options.end() && std::get<std::int64_t>(width->second) % 2 != 0;
  });
  if (info.about.name == "latent") {
    out.push_back({{{"rotary_width", std::int64_t{2}}}, "latent with rotary_width"});
    out.push_back({{{"width", std::int64_t{3}}, {"query_width", std::int64_t{5}}, {"rotary_width", std::int64_t{4}}},
                   "latent with all widths"});
  }
  return out;
}

} // namespace heed::HEED_REAL
