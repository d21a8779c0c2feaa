#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

double shifted(double x) { return x > 0 ? x + 1 : std::exp(x); }

} // namespace

extern const FeatureInfo feature_elu{.about = {.name = "elu",
                                               .summary = "elu(x) + 1, for each number, which is above 0",
                                               .paper = "Katharopoulos et al. 2020, arXiv 2006.16236",
                                               .cost = "an exponential for each number"},
                                     .output_width = [](std::int64_t width) { return width; },
                                     .make = PlainFeature<elu_plus_one>::make,
                                     .row = each_number<shifted>};

} // namespace heed::HEED_REAL
