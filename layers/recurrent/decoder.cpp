#include "layers/recurrent/decoder.hpp"

namespace heed::HEED_REAL {

RecurrentDecoder::RecurrentDecoder(const Scope& scope, const LayerChoice& choice, const RecurrentOptions& options,
                                   const OptionValues& cell_options, const Shape& shape,
                                   const OptionValues& attention_options)
    : steps_(recurrent_attention_info(options.attention)
                 .make(scope, {choice, options, cell_options, attention_options, shape})) {}

Tensor RecurrentDecoder::operator()(Pass& pass, const Tensor& e, RecurrentStates start,
                                    const std::optional<SourceAttention::Source>& source) const {
  const Op op("recurrent_decoder", {&e});
  op.check(e.rank() == 3, "the tokens' vectors must be [B, T, width], they are {}", e.shape.text());
  return steps_->all(pass, e, start, source);
}

} // namespace heed::HEED_REAL
