#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_delta_net = recurrence_kind(
    {.name = "delta_net",
     .summary = "S_t = S_(t-1) + b_t k_t (v_t - k_t^T S_(t-1))^T with b_t = sigmoid(W x_t) of each head: what a key "
                "reads moves towards its value (the delta rule); keys of length 1, and a convolution",
     .paper = "Yang et al. 2024, arXiv 2406.06484; mixer.range = \"-1..1\": Grazzi et al. 2024, arXiv 2411.12537",
     .cost = "4 width^2 parameters and those of b, heads width; 6 K V operations for each token and head",
     .presets = {{"mixer.convolution", Value(std::int64_t{4})},
                 {"mixer.query_key_norm", Value(std::string("l2"))},
                 {"mixer.erase", Value(std::string("head"))},
                 {"mixer.output_norm", Value(std::string("rms_head"))}}});

} // namespace heed::HEED_REAL
