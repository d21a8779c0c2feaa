#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_gla = recurrence_kind(
    {.name = "gla",
     .summary = "S_t = Diag(f_t) S_(t-1) + k_t v_t^T with f_t = sigmoid(W_2 W_1 x_t + b)^(1/16) for each "
                "channel of the keys (gated linear attention)",
     .paper = "Yang et al. 2023, arXiv 2312.06635",
     .cost = "4 width^2 parameters, and 16 width + 16 keys of the decay",
     .presets = {{"mixer.key_ratio", Value(0.5)},
                 {"mixer.decay", Value(std::string("log_sigmoid"))},
                 {"mixer.log_sigmoid.low_rank", Value(std::int64_t{16})},
                 {"mixer.log_sigmoid.temperature", Value(16.0)},
                 {"mixer.output_norm", Value(std::string("rms_head"))},
                 {"mixer.gate", Value(std::string("silu"))}}});

} // namespace heed::HEED_REAL
