#include "layers/feed_forward.hpp"

#include <cmath>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_silu{
    .about =
        {.name = "silu",
         .summary = "W2 silu(W1 x), with silu(x) = x sigmoid(x)",
         .paper =
             "Hendrycks and Gimpel 2016, arXiv 1606.08415; Ramachandran, Zoph and Le 2017, arXiv 1710.05941 (swish)",
         .cost = "two matrices; one function for each hidden number"},
    .activation = Activation::silu,
    .gated = false,
    .function = [](double x) -> double { return x / (1 + std::exp(-x)); }};

} // namespace heed::HEED_REAL
