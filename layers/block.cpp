#include "layers/block.hpp"

namespace heed::HEED_REAL {

namespace {

std::int64_t hidden_width(const BlockOptions& options, std::int64_t width) {
  return options.ffn_width ? options.ffn_width : 4 * width;
}

std::optional<MultiHeadAttention> cross_attention(const Scope& scope, const LayerChoice& choice,
                                                  const Block::Shape& shape) {
  if (shape.memory_width == 0) return {};
  return MultiHeadAttention(scope, choice.for_cross_attention(),
                            {.width = shape.width,
                             .memory_width = shape.memory_width,
                             .heads = shape.heads,
                             .bias = yes(choice.attention.qkv_bias, choice.block.bias),
                             .output_bias = yes(choice.attention.output_bias, choice.block.bias),
                             .longest = shape.longest_memory},
                            shape.residual_init);
}

} // namespace

Block::Block(const Scope& scope, const LayerChoice& choice, const Shape& shape)
    : name_(scope.name()), residual_attention_(choice.block.residual == "both" || choice.block.residual == "attention"),
      residual_ffn_(choice.block.residual == "both" || choice.block.residual == "ffn"),
      pre_(choice.block.norm == "pre"), post_(choice.block.norm == "post"), options_(choice.attention),
      dropout_(choice.block.dropout), attention_(scope / "attention", choice,
                                                 {.width = shape.width,
                                                  .memory_width = 0,
                                                  .heads = shape.heads,
                                                  .bias = yes(choice.attention.qkv_bias, choice.block.bias),
                                                  .output_bias = yes(choice.attention.output_bias, choice.block.bias),
                                                  .position = shape.position,
                                                  .longest = shape.longest},
                                                 shape.residual_init),
      cross_(cross_attention(scope / "cross_attention", choice, shape)),
      ffn_(scope / "ffn", choice.block.activation, shape.width, hidden_width(choice.block, shape.width),
           choice.block.bias, shape.residual_init) {
  if (!pre_ && !post_) return;
  const bool norm_bias = yes(choice.block.norm_bias, choice.block.bias);
  attention_norm_.emplace(scope / "attention_norm", choice.block.norm_kind, shape.width, norm_bias);
  if (cross_) cross_norm_.emplace(scope / "cross_attention_norm", choice.block.norm_kind, shape.width, norm_bias);
  ffn_norm_.emplace(scope / "ffn_norm", choice.block.norm_kind, shape.width, norm_bias);
}

template <class Attend, class Recall>
Tensor Block::sublayers(Pass& pass, const Tensor& x, const Attend& attend, const Recall& recall) const {
  const auto sublayer = [&](const Tensor& in, bool residual, const std::optional<Norm>& norm, auto&& f) {
    const Tensor y = pass.dropout(f(pre_ ? (*norm)(pass, in) : in), dropout_);
    const Tensor sum = residual ? add(in, y) : y;
    return post_ ? (*norm)(pass, sum) : sum;
  };
  Tensor h = sublayer(x, residual_attention_, attention_norm_, attend);
  if (cross_) h = sublayer(h, residual_attention_, cross_norm_, recall);
  const Tensor y = sublayer(h, residual_ffn_, ffn_norm_, [&](const Tensor& in) { return ffn_(pass, in); });
  pass.show(name_, y);
  return y;
}

Tensor Block::operator()(Pass& pass, const Tensor& x, const Mask& given) const {
  if (cross_) throw Failed("[block] it has cross attention, and was called without a memory");
  const Mask mask = self_attention_mask(options_, given);
  return sublayers(
      pass, x, [&](const Tensor& in) { return attention_(pass, in, mask); }, [](const Tensor& in) { return in; });
}

Tensor Block::operator()(Pass& pass, const Tensor& x, const Mask& given, const Tensor& memory,
                         const Mask& memory_mask) const {
  if (!cross_) throw Failed("[block] it has no cross attention, and was called with a memory");
  const Mask mask = self_attention_mask(options_, given);
  return sublayers(
      pass, x, [&](const Tensor& in) { return attention_(pass, in, mask); },
      [&](const Tensor& in) { return (*cross_)(pass, in, memory, memory_mask); });
}

Tensor Block::step(Pass& pass, const Tensor& x, Past& past, const Mask& memory_mask) const {
  const Mask mask = self_attention_mask(options_, {});
  return sublayers(
      pass, x, [&](const Tensor& in) { return attention_.step(pass, in, mask, past.own); },
      [&](const Tensor& in) { return cross_->recall(pass, in, past.memory, memory_mask); });
}

} // namespace heed::HEED_REAL
