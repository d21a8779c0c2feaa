#include "layers/block.hpp"

#include <algorithm>
#include <string>

namespace heed::HEED_REAL {

namespace {

// The initial LayerScale of CaiT for up to 18 layers (Touvron et al. 2021, section 2.1).
constexpr double first_layer_scale = 0.1;

// A gated kind has three matrices instead of two, so two thirds of the width give the same number of weights.
std::int64_t hidden_width(const BlockOptions& options, std::int64_t width) {
  const std::int64_t stated = options.ffn_width ? options.ffn_width : 4 * width;
  const bool narrower = options.gated_width == "matched" && feed_forward_info(options.activation).gated;
  return narrower ? std::max<std::int64_t>((2 * stated + 1) / 3, 1) : stated;
}

// Also the beginning of the names of what is around the mixer.
std::string mixer_name(const LayerChoice& choice) { return has_attention(choice) ? "attention" : "mixer"; }

std::optional<MultiHeadAttention> cross_attention(const Scope& scope, const LayerChoice& choice,
                                                  const Block::Sizes& sizes) {
  if (sizes.memory_width == 0) return {};
  return MultiHeadAttention(scope, choice.for_cross_attention(),
                            {.width = sizes.width,
                             .memory_width = sizes.memory_width,
                             .heads = sizes.heads,
                             .bias = yes(choice.attention.qkv_bias, choice.block.bias),
                             .output_bias = yes(choice.attention.output_bias, choice.block.bias),
                             .longest = sizes.longest_memory,
                             .trained = sizes.trained_memory,
                             .layer = sizes.layer,
                             .longest_queries = sizes.longest,
                             .registers = sizes.registers},
                            sizes.residual_init);
}

} // namespace

Block::Block(const Scope& scope, const LayerChoice& choice, const Sizes& sizes)
    : name_(scope.name()), post_(choice.block.norm == "post"), parallel_(choice.block.parallel && choice.block.ffn),
      scale_(choice.block.residual_scale.word.empty() ? choice.block.residual_scale.number : 1),
      options_(choice.attention), dropout_(choice.block.dropout), hands_on_values_(sizes.hands_on_values),
      registers_(sizes.registers),
      mixer_(mixer_info(choice.mixer.kind)
                 .make(scope / mixer_name(choice), choice,
                       {.width = sizes.width,
                        .heads = sizes.heads,
                        .bias = yes(choice.attention.qkv_bias, choice.block.bias),
                        .output_bias = yes(choice.attention.output_bias, choice.block.bias),
                        .position = sizes.position,
                        .longest = sizes.longest,
                        .trained = sizes.trained,
                        .layer = sizes.layer,
                        .layers = sizes.layers,
                        .shared_layers = sizes.shared_layers,
                        .hands_on_values = sizes.hands_on_values,
                        .patches_in_row = sizes.patches_in_row,
                        .registers = sizes.registers},
                       sizes.residual_init)),
      cross_(cross_attention(scope / "cross_attention", choice, sizes)) {
  if (choice.block.ffn)
    ffn_.emplace(scope / "ffn", choice.block.activation, sizes.width, hidden_width(choice.block, sizes.width),
                 choice.block.bias, sizes.residual_init, choice.block.ffn_dropout);
  if (parallel_ && cross_) throw Failed("[block] parallel is not available in blocks with cross attention");
  const std::string& residual = choice.block.residual;
  const bool of_attention = residual == "both" || residual == "attention",
             of_ffn = residual == "both" || residual == "ffn";
  mixer_wrapper_ = wrapper(scope, mixer_name(choice), choice, sizes.width, of_attention);
  if (cross_) cross_wrapper_ = wrapper(scope, "cross_attention", choice, sizes.width, of_attention);
  if (ffn_ && !parallel_) ffn_wrapper_ = wrapper(scope, "ffn", choice, sizes.width, of_ffn);
}

Block::ResidualWrapper Block::wrapper(const Scope& scope, const std::string& name, const LayerChoice& choice,
                                      std::int64_t width, bool residual) const {
  ResidualWrapper out{.residual = residual};
  const auto norm = [&](const char* ending) {
    return make_norm(scope / (name + ending), choice.block.norm_kind,
                     {width, yes(choice.block.norm_bias, choice.block.bias)}, choice.norm_options);
  };
  const std::string& where = choice.block.norm;
  if (where == "output") out.behind = norm("_norm");
  else if (where != "none") out.norm = norm("_norm");
  if (where == "sandwich") out.behind = norm("_norm_behind");
  if (residual && choice.block.connection == "highway")
    out.gate.emplace(scope / (name + "_gate"), width, width, Init::constant(choice.block.gate_bias));
  const std::string& scale = choice.block.residual_scale.word;
  if (!residual || scale.empty()) return out;
  const bool one = scale == "rezero";
  out.scale = scope.no_decay(name + "_scale", {one ? 1 : width}, Init::constant(one ? 0 : first_layer_scale));
  return out;
}

template <class F> Tensor Block::sublayer(Pass& pass, const Tensor& x, const ResidualWrapper& a, const F& f) const {
  Tensor y = f(a.norm && !post_ ? (*a.norm)(pass, x) : x);
  if (a.behind) y = (*a.behind)(pass, y);
  y = pass.dropout(y, dropout_);
  if (a.gate) {
    y = add(x, mul(sigmoid((*a.gate)(pass, x)), sub(y, x)));
  } else if (a.residual) {
    if (a.scale) y = mul(y, pass(*a.scale));
    else if (scale_ != 1) y = scale(y, static_cast<Real>(scale_));
    y = add(x, y);
  }
  return post_ ? (*a.norm)(pass, y) : y;
}

template <class Attend, class AttendMemory>
Tensor Block::sublayers(Pass& pass, const Tensor& x, std::int64_t registers, const Attend& attend,
                        const AttendMemory& attend_memory) const {
  const auto feed_forward = [&](const Tensor& in) { return (*ffn_)(pass, in); };
  Tensor y;
  if (parallel_) {
    y = sublayer(pass, x, mixer_wrapper_, [&](const Tensor& in) { return add(attend(in), feed_forward(in)); });
  } else {
    y = sublayer(pass, x, mixer_wrapper_, attend);
    if (cross_) y = sublayer(pass, y, cross_wrapper_, attend_memory);
    if (ffn_) y = sublayer(pass, y, ffn_wrapper_, feed_forward);
  }
  pass.show_block(name_, registers == 0 ? y : slice(y, 1, registers, y.shape[1] - registers));
  return y;
}

Tensor Block::operator()(Pass& pass, const Tensor& x, const Mask& given, Tensor* first_values) const {
  if (cross_) throw Failed("[block] it has cross attention, and was called without a memory");
  const Mask mask = self_attention_mask(options_, given);
  return sublayers(
      pass, x, registers_, [&](const Tensor& in) { return (*mixer_)(pass, in, mask, first_values); },
      [](const Tensor& in) { return in; });
}

Tensor Block::operator()(Pass& pass, const Tensor& x, const Mask& given, const Tensor& memory, const Mask& memory_mask,
                         Tensor* first_values) const {
  if (!cross_) throw Failed("[block] it has no cross attention, and was called with a memory");
  const Mask mask = self_attention_mask(options_, given);
  return sublayers(
      pass, x, registers_, [&](const Tensor& in) { return (*mixer_)(pass, in, mask, first_values); },
      [&](const Tensor& in) { return (*cross_)(pass, in, memory, memory_mask); });
}

Tensor Block::step(Pass& pass, const Tensor& x, Past& past, const Mask& given, const Mask& memory_mask,
                   Tensor* first_values) const {
  const Mask mask = self_attention_mask(options_, given);
  return sublayers(
      pass, x, past.own ? 0 : registers_,
      [&](const Tensor& in) { return mixer_->step(pass, in, mask, past.own, first_values); },
      [&](const Tensor& in) { return cross_->attend_memory(pass, in, past.memory, memory_mask); });
}

} // namespace heed::HEED_REAL
