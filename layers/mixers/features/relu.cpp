#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

double positive(double x) { return x > 0 ? x : 0; }

} // namespace

extern const FeatureInfo feature_relu{
    .about = {.name = "relu", .summary = "max(x, 0), for each number", .cost = "none"},
    .output_width = [](std::int64_t width) { return width; },
    .make = PlainFeature<relu>::make,
    .row = each_number<positive>};

} // namespace heed::HEED_REAL
