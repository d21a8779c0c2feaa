#include "layers/attention/attention.hpp"

namespace heed::HEED_REAL {

extern const MixerInfo mixer_attention{
    .about = {.name = "attention",
              .summary = "softmax attention or what [attention] makes of it: every token sees the tokens that its mask "
                         "allows",
              .paper = "Vaswani et al. 2017, arXiv 1706.03762",
              .cost = "by score, normaliser, projection and parts; operations for each pair of tokens"},
    .make = [](const Scope& scope, const LayerChoice& choice, const MixerSizes& sizes, const InitRule& output_init)
        -> std::unique_ptr<Mixer> { return std::make_unique<MultiHeadAttention>(scope, choice, sizes, output_init); },
    .refusal_of = [](const LayerChoice& choice, const MixerSizes& sizes,
                     const ValuesByName& others) { return MultiHeadAttention::refusal_of(choice, sizes, others); },
    .shape_of_values = [](const LayerChoice& choice, const MixerSizes& sizes) -> ValuesShape {
      return {choice.attention.heads_of_values(sizes.heads),
              MultiHeadAttention::relative_sizes(choice, sizes).value_width};
    }};

} // namespace heed::HEED_REAL
