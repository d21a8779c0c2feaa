#include "experiments/models/model.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

const ModelInfo& model_info(const std::string& kind) {
  for (const ModelInfo* info : models())
    if (info->about.name == kind) return *info;
  throw Failed(fmt::format("[model] there is no kind '{}'", kind));
}

Init weight_init(const Config& config) { return Init::normal(config.model.init_std); }

Init residual_init(const Config& config) {
  if (!config.model.scaled_init) return weight_init(config);
  return Init::normal(config.model.init_std / std::sqrt(2.0 * static_cast<double>(config.model.layers)));
}

} // namespace heed::HEED_REAL
