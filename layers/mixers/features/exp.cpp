#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

double power(double x) { return std::exp(x); }

} // namespace

extern const FeatureInfo feature_exp{
    .about = {.name = "exp", .summary = "exp(x), for each number", .cost = "an exponential for each number"},
    .output_width = [](std::int64_t width) { return width; },
    .make = PlainFeature<exp>::make,
    .row = each_number<power>};

} // namespace heed::HEED_REAL
