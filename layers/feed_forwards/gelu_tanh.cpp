#include "layers/feed_forward.hpp"

#include <cmath>

namespace heed::HEED_REAL {

extern const FeedForwardInfo feed_forward_gelu_tanh{
    .about = {.name = "gelu_tanh",
              .summary = "W2 gelu(W1 x), with gelu's approximation by tanh, as in GPT-2",
              .paper = "Hendrycks and Gimpel 2016, arXiv 1606.08415",
              .cost = "two matrices; one function for each hidden number"},
    .activation = Activation::gelu_tanh,
    .gated = false,
    .function = [](double x) -> double {
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    }};

} // namespace heed::HEED_REAL
