#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_kda = recurrence_kind(
    {.name = "kda",
     .summary = "S_t = F_t S_(t-1) + b_t k_t (v_t - k_t^T F_t S_(t-1))^T: gated_delta_net with a decay F_t of each "
                "channel of the keys (Kimi Delta Attention)",
     .paper = "Kimi Team 2025, arXiv 2510.26692",
     .cost =
         "4 width^2 parameters, and about 3 (K + V) width of decay and gate; 6 K V operations for each token and head",
     .presets = {{"mixer.convolution", Value(std::int64_t{4})},
                 {"mixer.query_key_norm", Value(std::string("l2"))},
                 {"mixer.decay", Value(std::string("softplus"))},
                 {"mixer.softplus.by", Value(std::string("channel"))},
                 {"mixer.softplus.rank", Value(std::string("head"))},
                 {"mixer.erase", Value(std::string("head"))},
                 {"mixer.output_norm", Value(std::string("rms_head"))},
                 {"mixer.gate", Value(std::string("sigmoid"))},
                 {"mixer.gate_rank", Value(std::string("head"))}}});

} // namespace heed::HEED_REAL
