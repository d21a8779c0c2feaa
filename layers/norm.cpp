#include "layers/norm.hpp"

namespace heed::HEED_REAL {

const NormInfo& norm_info(const std::string& name) { return variant_named(norms(), name, "[block] there is no norm"); }

std::unique_ptr<Norm> make_norm(const Scope& scope, const std::string& kind, const NormSizes& sizes,
                                const OptionValues& options) {
  return norm_info(kind).make(scope, sizes, options);
}

} // namespace heed::HEED_REAL
