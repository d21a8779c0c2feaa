#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_gated_delta_net = recurrence_kind(
    {.name = "gated_delta_net",
     .summary = "S_t = f_t S_(t-1) + b_t k_t (v_t - k_t^T f_t S_(t-1))^T: delta_net with a decay f_t = exp(-A "
                "softplus(W x_t + b)) of each head, and an output gate",
     .paper = "Yang, Kautz and Hatamizadeh 2024, arXiv 2412.06464",
     .cost = "6 width^2 parameters and those of b and f, 2 heads width; 6 K V operations for each token and head",
     .presets = {{"mixer.key_ratio", Value(0.75)},
                 {"mixer.value_ratio", Value(1.5)},
                 {"mixer.convolution", Value(std::int64_t{4})},
                 {"mixer.query_key_norm", Value(std::string("l2"))},
                 {"mixer.decay", Value(std::string("softplus"))},
                 {"mixer.softplus.rates", Value(std::string("0.01..16"))},
                 {"mixer.erase", Value(std::string("head"))},
                 {"mixer.output_norm", Value(std::string("rms_head"))},
                 {"mixer.gate", Value(std::string("silu"))}}});

} // namespace heed::HEED_REAL
