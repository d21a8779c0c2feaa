#include "layers/feed_forward.hpp"

#include <cmath>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_gelu{
    .about = {.name = "gelu",
              .summary = "W2 gelu(W1 x), with gelu(x) = x Phi(x), Phi the standard normal distribution",
              .paper = "Hendrycks and Gimpel 2016, arXiv 1606.08415",
              .cost = "two matrices; one function for each hidden number"},
    .activation = Activation::gelu,
    .gated = false,
    .function = [](double x) -> double { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }};

} // namespace heed::HEED_REAL
