#include "layers/feed_forward.hpp"

#include <cmath>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_swiglu{.about = {.name = "swiglu",
                                                           .summary = "W2 (silu(W1 x) * W3 x)",
                                                           .paper = "Shazeer 2020, arXiv 2002.05202",
                                                           .cost = "three matrices instead of two",
                                                           .uses = {"block.gated_width"}},
                                                 .activation = Activation::silu,
                                                 .gated = true,
                                                 .function = [](double x) -> double { return x / (1 + std::exp(-x)); }};

} // namespace heed::HEED_REAL
