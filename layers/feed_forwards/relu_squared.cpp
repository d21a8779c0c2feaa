#include "layers/feed_forward.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_relu_squared{
    .about = {.name = "relu_squared",
              .summary = "W2 max(W1 x, 0)^2",
              .paper = "So et al. 2021, arXiv 2109.08668",
              .cost = "two matrices; one function for each hidden number"},
    .activation = Activation::relu_squared,
    .gated = false,
    .function = [](double x) -> double { return std::pow(std::max(x, 0.0), 2); }};

} // namespace heed::HEED_REAL
