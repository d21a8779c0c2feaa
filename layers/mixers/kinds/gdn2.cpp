#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_gdn2 = recurrence_kind(
    {.name = "gdn2",
     .summary =
         "S_t = F_t S_(t-1) + k_t (w_t v_t - (b_t k_t)^T F_t S_(t-1))^T: kda with a strength of the erase, b_t, of "
         "each channel of the keys, and one of the write, w_t, of each channel of the values (Gated DeltaNet-2)",
     .paper = "Hatamizadeh, Choi and Kautz 2026, arXiv 2605.22791",
     .cost =
         "6 width^2 parameters, and about 3 (K + V) width of decay and gate; 6 K V operations for each token and head",
     .presets = {{"mixer.convolution", Value(std::int64_t{4})},
                 {"mixer.query_key_norm", Value(std::string("l2"))},
                 {"mixer.decay", Value(std::string("softplus"))},
                 {"mixer.softplus.by", Value(std::string("channel"))},
                 {"mixer.softplus.rank", Value(std::string("head"))},
                 {"mixer.erase", Value(std::string("channel"))},
                 {"mixer.write_gate", Value(std::string("channel"))},
                 {"mixer.output_norm", Value(std::string("rms_head"))},
                 {"mixer.gate", Value(std::string("sigmoid"))},
                 {"mixer.gate_rank", Value(std::string("head"))}}});

} // namespace heed::HEED_REAL
