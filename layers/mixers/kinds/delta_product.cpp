#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_delta_product = recurrence_kind(
    {.name = "delta_product",
     .summary =
         "gated_delta_net with several steps of the delta rule for each token, each with its own key, value and "
         "strength b in 0..2: the state is multiplied by a product of reflections, so it can follow permutations "
         "(DeltaProduct)",
     .paper = "Siems et al. 2025, arXiv 2502.10297",
     .cost = "3.75 width^2 parameters and 2.25 width^2 for each step; 6 K V operations for each step, token and head",
     .presets = {{"mixer.key_ratio", Value(0.75)},
                 {"mixer.value_ratio", Value(1.5)},
                 {"mixer.convolution", Value(std::int64_t{4})},
                 {"mixer.query_key_norm", Value(std::string("l2"))},
                 {"mixer.decay", Value(std::string("softplus"))},
                 {"mixer.softplus.rates", Value(std::string("0.01..16"))},
                 {"mixer.erase", Value(std::string("head"))},
                 {"mixer.range", Value(std::string("-1..1"))},
                 {"mixer.steps", Value(std::int64_t{2})},
                 {"mixer.output_norm", Value(std::string("rms_head"))},
                 {"mixer.gate", Value(std::string("silu"))}}});

} // namespace heed::HEED_REAL
