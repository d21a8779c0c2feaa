#include "layers/feed_forward.hpp"

#include <cmath>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_geglu{
    .about = {.name = "geglu",
              .summary = "W2 (gelu(W1 x) * W3 x)",
              .paper = "Shazeer 2020, arXiv 2002.05202",
              .cost = "three matrices instead of two",
              .uses = {"block.gated_width"}},
    .activation = Activation::gelu,
    .gated = true,
    .function = [](double x) -> double { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }};

} // namespace heed::HEED_REAL
