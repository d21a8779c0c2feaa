#include "layers/block.hpp"

namespace heed::HEED_REAL {

namespace {

std::int64_t hidden_width(const BlockOptions& options, std::int64_t width) {
  return options.ffn_width ? options.ffn_width : 4 * width;
}

} // namespace

Block::Block(const Scope& scope, const LayerChoice& choice, const Shape& shape)
    : residual_attention_(choice.block.residual == "both" || choice.block.residual == "attention"),
      residual_ffn_(choice.block.residual == "both" || choice.block.residual == "ffn"),
      pre_(choice.block.norm == "pre"), post_(choice.block.norm == "post"), options_(choice.attention),
      dropout_(choice.block.dropout),
      attention_(scope / "attention", choice,
                 {.width = shape.width, .memory_width = 0, .heads = shape.heads, .bias = choice.block.bias,
                  .position = shape.position, .longest = shape.longest},
                 shape.residual_init),
      ffn_(scope / "ffn", choice.block.activation, shape.width, hidden_width(choice.block, shape.width),
           choice.block.bias, shape.residual_init) {
  if (!pre_ && !post_) return;
  attention_norm_.emplace(scope / "attention_norm", choice.block.norm_kind, shape.width, choice.block.bias);
  ffn_norm_.emplace(scope / "ffn_norm", choice.block.norm_kind, shape.width, choice.block.bias);
}

Tensor Block::operator()(Pass& pass, const Tensor& x, const Mask& given) const {
  const Mask mask = self_attention_mask(options_, given);
  const auto sublayer = [&](const Tensor& in, bool residual, const std::optional<Norm>& norm, auto&& f) {
    const Tensor y = pass.dropout(f(pre_ ? (*norm)(pass, in) : in), dropout_);
    const Tensor sum = residual ? add(in, y) : y;
    return post_ ? (*norm)(pass, sum) : sum;
  };
  const Tensor h = sublayer(x, residual_attention_, attention_norm_,
                            [&](const Tensor& in) { return attention_(pass, in, mask); });
  return sublayer(h, residual_ffn_, ffn_norm_, [&](const Tensor& in) { return ffn_(pass, in); });
}

} // namespace heed::HEED_REAL
