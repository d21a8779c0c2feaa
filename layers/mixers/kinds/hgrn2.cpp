#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_hgrn2 = recurrence_kind(
    {.name = "hgrn2",
     .summary = "S_t = Diag(f_t) S_(t-1) + (1 - f_t) v_t^T with f_t = sigmoid(W x_t) for each channel, and "
                "SiLU of the queries; without lower bounds of f",
     .paper = "Qin et al. 2024, arXiv 2404.07904",
     .cost = "4 width^2 parameters: queries, decays, values and output",
     .presets = {{"mixer.feature", Value(std::string("silu"))},
                 {"mixer.scale", Value(WordOrNumber{"none", 0})},
                 {"mixer.decay", Value(std::string("log_sigmoid"))},
                 {"mixer.log_sigmoid.bias", Value(false)},
                 {"mixer.keys", Value(std::string("complement"))},
                 {"mixer.output_norm", Value(std::string("rms"))}}});

} // namespace heed::HEED_REAL
