#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_retention = recurrence_kind(
    {.name = "retention",
     .summary = "S_t = f_h S_(t-1) + k_t v_t^T with a constant decay f_h = 1 - 2^(-5 - h) of head h, rotated "
                "queries and keys, a norm of each head and a gate",
     .paper = "Sun et al. 2023, arXiv 2307.08621 (RetNet)",
     .cost = "8 width^2 parameters: values are twice as wide as keys, and there is a gate",
     .presets = {{"mixer.value_ratio", Value(2.0)},
                 {"mixer.position", Value(std::string("rotary"))},
                 {"mixer.decay", Value(std::string("constant"))},
                 {"mixer.output_norm", Value(std::string("rms_head"))},
                 {"mixer.gate", Value(std::string("silu"))}}});

} // namespace heed::HEED_REAL
