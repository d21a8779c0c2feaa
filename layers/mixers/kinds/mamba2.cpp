#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_mamba2 = recurrence_kind(
    {.name = "mamba2",
     .summary = "S_t = exp(-A s_t) S_(t-1) + k_t (s_t v_t)^T with the step s_t = softplus(W x_t + b) of each "
                "head, a convolution, one key for all heads, a skip, and the gate before the norm",
     .paper = "Dao and Gu 2024, arXiv 2405.21060 (Mamba-2)",
     .cost = "6 width^2 parameters and those of queries and keys, 128 width. Published blocks have no "
             "feed-forward network, and there are twice as many",
     .presets = {{"mixer.key_heads", Value(std::int64_t{1})},
                 {"mixer.key_width", Value(std::int64_t{64})},
                 {"mixer.value_ratio", Value(2.0)},
                 {"mixer.convolution", Value(std::int64_t{4})},
                 {"mixer.convolution_bias", Value(true)},
                 {"mixer.scale", Value(WordOrNumber{"none", 0})},
                 {"mixer.decay", Value(std::string("softplus"))},
                 {"mixer.write", Value(std::string("step"))},
                 {"mixer.skip", Value(true)},
                 {"mixer.output_norm", Value(std::string("rms"))},
                 {"mixer.gate", Value(std::string("silu"))},
                 {"mixer.gate_first", Value(true)}}});

} // namespace heed::HEED_REAL
