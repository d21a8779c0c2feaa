#include "layers/feed_forward.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_relu{
    .about = {.name = "relu",
              .summary = "W2 max(W1 x, 0)",
              .paper = "Nair and Hinton 2010; in the Transformer: Vaswani et al. 2017, arXiv 1706.03762",
              .cost = "two matrices; one function for each hidden number"},
    .activation = Activation::relu,
    .gated = false,
    .function = [](double x) -> double { return std::max(x, 0.0); }};

} // namespace heed::HEED_REAL
