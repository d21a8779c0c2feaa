#include "layers/feed_forward.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_reglu{.about = {.name = "reglu",
                                                          .summary = "W2 (max(W1 x, 0) * W3 x)",
                                                          .paper = "Shazeer 2020, arXiv 2002.05202",
                                                          .cost = "three matrices instead of two",
                                                          .uses = {"block.gated_width"}},
                                                .activation = Activation::relu,
                                                .gated = true,
                                                .function = [](double x) -> double { return std::max(x, 0.0); }};

} // namespace heed::HEED_REAL
