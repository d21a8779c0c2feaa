#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_lightning = recurrence_kind(
    {.name = "lightning",
     .summary = "S_t = f S_(t-1) + k_t v_t^T with SiLU of queries, keys and values, and a constant decay f of "
                "each head, which is slower in later blocks",
     .paper = "Qin et al. 2024, arXiv 2401.04658; MiniMax-01 2025, arXiv 2501.08313",
     .cost = "5 width^2 parameters, with the gate",
     .presets = {{"mixer.activation", Value(std::string("silu"))},
                 {"mixer.scale", Value(WordOrNumber{"none", 0})},
                 {"mixer.decay", Value(std::string("constant"))},
                 {"mixer.constant.rates", Value(std::string("lightning"))},
                 {"mixer.output_norm", Value(std::string("rms"))},
                 {"mixer.gate", Value(std::string("sigmoid"))}}});

} // namespace heed::HEED_REAL
