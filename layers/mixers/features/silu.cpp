#include "autograd/ops.hpp"
#include "layers/mixers/feature.hpp"

#include <cmath>

namespace heed::HEED_REAL {

namespace {

double swish(double x) { return x / (1 + std::exp(-x)); }

} // namespace

extern const FeatureInfo feature_silu{.about = {.name = "silu",
                                                .summary = "x sigmoid(x), for each number",
                                                .paper = "as the queries of HGRN2: Qin et al. 2024, arXiv 2404.07904",
                                                .cost = "an exponential for each number"},
                                      .output_width = [](std::int64_t width) { return width; },
                                      .make = PlainFeature<silu>::make,
                                      .row = each_number<swish>};

} // namespace heed::HEED_REAL
