#include "layers/mixers/recurrence.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_linear_attention = recurrence_kind(
    {.name = "linear_attention",
     .summary = "S_t = S_(t-1) + f(k_t) v_t^T, o_t = S_t^T f(q_t) / (f(q_t) . (f(k_1) + ... + f(k_t))) with "
                "the feature map f",
     .paper = "Katharopoulos et al. 2020, arXiv 2006.16236",
     .equals = "attention with score = \"linear\" (feature = elu)",
     .cost = "as recurrence, with one value more in each head; K is the number of features",
     .presets = {{"mixer.feature", Value(std::string("elu"))},
                 {"mixer.scale", Value(WordOrNumber{"none", 0})},
                 {"mixer.normalizer", Value(std::string("sum"))}}});

} // namespace heed::HEED_REAL
