#include "layers/mixers/recurrence.hpp"

#include "layers/attention/heads.hpp"
#include "layers/position/position.hpp"
#include "layers/quotient.hpp"
#include "layers/unit_length.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>
#include <vector>

namespace heed::HEED_REAL {

namespace {

constexpr Real norm_epsilon = Real(1e-5); // of flash-linear-attention

std::int64_t width_of_head(std::int64_t given, double ratio, const MixerSizes& sizes, std::int64_t heads) {
  if (given > 0) return given;
  return std::llround(ratio * static_cast<double>(sizes.width) / static_cast<double>(heads));
}

std::int64_t features_of(const MixerOptions& options, std::int64_t key_width) {
  return feature_info(options.feature).output_width(key_width);
}

bool decays_by_channel(const LayerChoice& choice) {
  const DecayInfo& decay = decay_info(choice.mixer.decay);
  return decay.is_by_channel && decay.is_by_channel(choice.decay_options);
}

bool is_preset(const std::string& kind, const std::string& option, double value) {
  const auto& presets = mixer_info(kind).about.presets;
  return std::ranges::find(presets, std::pair{option, Value(value)}) != presets.end();
}

// 1 - exp(g), without loss of digits where g is near 0: exp(g) - 1 = 2 t / (1 - t) with t = tanh(g / 2).
Tensor complement(const Tensor& log_decay) {
  const Tensor t = tanh(scale(log_decay, Real(0.5)));
  return div(scale(t, -2), scale(t, -1, 1));
}

} // namespace

const FeatureInfo& feature_info(const std::string& name) {
  return variant_named(features(), name, "[mixer] there is no feature map");
}
const DecayInfo& decay_info(const std::string& name) {
  return variant_named(decays(), name, "[mixer] there is no decay");
}

RecurrenceWidths recurrence_widths(const MixerOptions& o, const MixerSizes& sizes) {
  const std::int64_t heads = o.heads ? o.heads : sizes.heads;
  return {.heads = heads,
          .key_heads = o.key_heads ? o.key_heads : heads,
          .key_width = width_of_head(o.key_width, o.key_ratio, sizes, heads),
          .value_width = width_of_head(o.value_width, o.value_ratio, sizes, heads),
          .steps = o.steps};
}

Refusal wrong_recurrence(const LayerChoice& choice, const MixerSizes& sizes, const ValuesByName& others) {
  if (Refusal by_choices = excluded(choice, true, others)) return by_choices;
  const MixerOptions& o = choice.mixer;
  const RecurrenceWidths widths = recurrence_widths(o, sizes);
  const auto refused = [](std::string why) { return Refusal{std::move(why), {}}; };
  for (const auto& [what, given, ratio] :
       {std::tuple{"key", o.key_width, o.key_ratio}, std::tuple{"value", o.value_width, o.value_ratio}}) {
    const double width = ratio * static_cast<double>(sizes.width) / static_cast<double>(widths.heads);
    if (given == 0 && width != std::round(width))
      return refused(
          fmt::format("mixer.{0}_ratio is {1}{5}, which gives the {0}s of a head a width of {2}, of {3} heads in "
                      "a width of {4}: choose another ratio or other mixer.heads, or set mixer.{0}_width",
                      what, ratio, width, widths.heads, sizes.width,
                      is_preset(o.kind, fmt::format("mixer.{}_ratio", what), ratio)
                          ? fmt::format(", the default of mixer.kind = \"{}\"", o.kind)
                          : ""));
  }
  if (widths.heads % widths.key_heads != 0)
    return refused(fmt::format("mixer.key_heads is {}, which does not divide the {} heads", widths.key_heads,
                               widths.heads));
  const bool by_channel = decays_by_channel(choice);
  if (by_channel && widths.key_heads != widths.heads)
    return refused(fmt::format("a decay by channel belongs to the keys of each head, and mixer.key_heads is {} for {} "
                               "heads: set mixer.key_heads = 0, or decay by head",
                               widths.key_heads, widths.heads));
  if (choice.mixer.keys == "complement" && !by_channel)
    return refused("mixer.keys is 'complement', the part of each channel that decays: choose a decay by channel, such "
                   "as mixer.decay = \"log_sigmoid\"");
  if (choice.mixer.write == "step" && !decay_info(choice.mixer.decay).has_step)
    return refused(fmt::format("mixer.write is 'step', and the decay '{}' has no step: choose mixer.decay = "
                               "\"softplus\", or mixer.write = \"same\"",
                               choice.mixer.decay));
  if (choice.mixer.write == "step" && by_channel)
    return refused(fmt::format("mixer.write is 'step', and the decay has a step of each channel: set "
                               "mixer.{}.by = \"head\", or mixer.write = \"same\"",
                               choice.mixer.decay));
  if (o.steps > 1 && o.keys == "complement")
    return refused(fmt::format("mixer.keys is 'complement', which gives each token one key, and mixer.steps is {}: set "
                               "mixer.steps = 1, or mixer.keys = \"projected\"",
                               o.steps));
  if (o.steps > 1 && o.skip)
    return refused(
        fmt::format("mixer.skip adds the value of a token, and mixer.steps = {0} gives each token {0} values: "
                    "set mixer.skip = false, or mixer.steps = 1",
                    o.steps));
  if (choice.mixer.position == "rotary" && features_of(choice.mixer, widths.key_width) < 2)
    return refused("mixer.position is 'rotary', which turns pairs of features, and the keys of a head have "
                   "only one: set mixer.key_width or another mixer.key_ratio, fewer mixer.heads, or "
                   "mixer.position = \"none\"");
  return {};
}

MixerInfo recurrence_kind(Variant about) {
  about.presets.emplace_back("position.kind", Value(std::string("none")));
  about.disables = {"attention"};
  return {.about = about,
          .make = [](const Scope& scope, const LayerChoice& choice, const MixerSizes& sizes,
                     const InitRule& output_init) -> std::unique_ptr<Mixer> {
            return std::make_unique<RecurrentMixer>(scope, choice, sizes, output_init);
          },
          .refusal_of = wrong_recurrence};
}

RecurrentMixer::RecurrentMixer(const Scope& scope, const LayerChoice& choice, const MixerSizes& sizes,
                               const InitRule& output_init)
    : place_{scope.name(), AttentionPlace::Kind::self, scope.reads()}, options_(choice.mixer),
      widths_(recurrence_widths(choice.mixer, sizes)), registers_(sizes.registers) {
  if (const Refusal refused = wrong_recurrence(choice, sizes, {{"model.registers", sizes.registers}}))
    throw Failed("[mixer] " + refused.why);
  const MixerOptions& o = options_;
  const bool has_keys = o.keys == "projected";
  const std::int64_t features = features_of(o, widths_.key_width);
  const auto steps = static_cast<std::size_t>(widths_.steps);
  const std::int64_t of_values = widths_.values() / widths_.steps;
  std::vector<std::int64_t> rows((has_keys ? steps : 0) + 1, widths_.queries());
  rows.insert(rows.end(), steps, of_values);
  const std::int64_t channels = widths_.queries() + (has_keys ? widths_.keys() : 0) + widths_.values();
  const Fans fans{.in = sizes.width,
                  .out = widths_.queries(),
                  .first_numbers = (channels - widths_.values()) * sizes.width,
                  .second_out = of_values};
  all_.emplace(scope / "qkv", sizes.width, channels, o.bias, fans);
  scope.set_parts(all_->weight, rows);
  if (o.convolution > 0) {
    const Scope own = scope / "convolution";
    taps_ = own.filters("weight", {channels, o.convolution});
    if (o.convolution_bias) taps_bias_ = own.no_decay("bias", {channels}, Init::zeros());
  }
  const auto feature = [&](const char* name, std::int64_t heads) {
    return feature_info(o.feature).make(scope / name, {.heads = heads, .width = widths_.key_width});
  };
  query_feature_ = feature("query_feature", widths_.key_heads);
  if (has_keys) key_feature_ = feature("key_feature", widths_.steps * widths_.key_heads);
  decay_ = decay_info(o.decay).make(scope / "decay",
                                    {.model_width = sizes.width,
                                     .heads = widths_.heads,
                                     .width = features,
                                     .value_width = widths_.value_width,
                                     .layer = sizes.layer,
                                     .layers = sizes.layers},
                                    choice.decay_options);
  if (o.position == "rotary") {
    rotation_ = position_info("rotary").make_relative(scope / "position",
                                                      {.heads = widths_.key_heads,
                                                       .query_width = features,
                                                       .value_width = widths_.value_width,
                                                       .longest = sizes.longest,
                                                       .trained = sizes.trained},
                                                      {});
    if (registers_ > 0) rotation_ = std::make_shared<SequencePosition>(rotation_, registers_);
  }
  if (o.scale.word == "sqrt") scale_ = static_cast<Real>(1 / std::sqrt(static_cast<double>(widths_.key_width)));
  else if (o.scale.word.empty()) scale_ = static_cast<Real>(o.scale.number);
  if (o.skip) skip_ = scope.no_decay("skip", {widths_.heads, 1}, Init::constant(1));
  if (o.output_norm != "none")
    gain_ = (scope / "norm")
                .no_decay("weight", {o.output_norm == "rms_head" ? widths_.value_width : of_values}, Init::constant(1));
  const auto strength = [&](std::optional<Linear>& map, const char* name, const std::string& by,
                            std::int64_t channels) {
    if (by != "none")
      map.emplace(scope / name, sizes.width, by == "head" ? widths_.steps * widths_.heads : channels, o.bias);
  };
  strength(erase_, "erase", o.erase, widths_.steps * widths_.heads * features);
  strength(write_gate_, "write_gate", o.write_gate, widths_.values());
  const bool has_low_gate = o.gate_rank == "head";
  if (o.gate != "none")
    gate_.emplace(scope / "gate_low_rank", scope / "gate", sizes.width, has_low_gate ? widths_.value_width : 0,
                  of_values, o.bias || has_low_gate);
  output_.emplace((scope / "output").starting_with(output_init), of_values, sizes.width, o.bias);
}

Tensor RecurrentMixer::features_of_heads(Pass& pass, const Tensor& x, const Feature* feature, std::int64_t first,
                                         Rotated of) const {
  Tensor y = feature ? (*feature)(pass, x) : x;
  if (options_.query_key_norm == "l2") y = of_length_one(y);
  else if (options_.query_key_norm == "sum") y = quotient(y, sum(y, -1, true));
  return rotation_ ? rotation_->rotate(pass, y, first, of) : y;
}

Tensor RecurrentMixer::column_of_steps(const Tensor& x) const {
  return one_after_the_other(column_of_heads(x), widths_.steps);
}

RecurrentMixer::Inputs RecurrentMixer::inputs(Pass& pass, const Tensor& x, const ConvolutionStart& start) const {
  const MixerOptions& o = options_;
  Inputs out;
  out.projected = (*all_)(pass, x);
  Tensor all = out.projected;
  if (taps_) {
    Tensor bias;
    if (taps_bias_) bias = pass(*taps_bias_);
    all = causal_convolution(all, pass(*taps_), taps_bias_ ? &bias : nullptr, start);
  }
  if (taps_ || o.activation == "silu") all = silu(all);
  const std::int64_t steps = widths_.steps, queries = widths_.queries();
  const auto heads_of_steps = [&](const Tensor& of) {
    return one_after_the_other(split_heads(of, steps * widths_.heads), steps);
  };
  out.decay = (*decay_)(pass, x);
  out.queries = features_of_heads(pass, split_heads(slice(all, 2, 0, queries), widths_.key_heads), query_feature_.get(),
                                  start.first, Rotated::queries);
  if (scale_ != 1) out.queries = scale(out.queries, scale_);
  const bool has_keys = o.keys == "projected";
  out.keys = one_after_the_other(features_of_heads(pass,
                                                   has_keys ? split_heads(slice(all, 2, queries, widths_.keys()),
                                                                          steps * widths_.key_heads)
                                                            : complement(out.decay.log_decay),
                                                   key_feature_.get(), start.first, Rotated::keys),
                                 steps);
  out.joined_values = slice(all, 2, queries + (has_keys ? widths_.keys() : 0), widths_.values());
  if (erase_) {
    Tensor b = sigmoid((*erase_)(pass, x));
    if (o.range == "-1..1") b = scale(b, 2);
    out.erase = o.erase == "head" ? column_of_steps(b) : heads_of_steps(b);
  }
  if (o.write == "step") out.write = in_each_step(out.decay.step, steps);
  else if (o.erase == "head") out.write = out.erase;
  Tensor written = out.joined_values;
  if (write_gate_) {
    const Tensor w = sigmoid((*write_gate_)(pass, x));
    if (o.write_gate == "channel") written = mul(written, w);
    else out.write = out.write.tape ? mul(out.write, column_of_steps(w)) : column_of_steps(w);
  }
  out.values = heads_of_steps(written);
  return out;
}

LinearRecurrenceOperands RecurrentMixer::operands(const Inputs& in, const Tensor& values) const {
  const std::int64_t steps = widths_.steps;
  Tensor decay = in.decay.log_decay;
  if (steps > 1 && decay.tape) {
    const Shape& of = in.queries.shape;
    const bool is_constant = decay.shape[0] != of[0] || decay.shape[2] != of[2];
    if (is_constant) decay = add(decay, decay.tape->zeros({of[0], widths_.heads, of[2], 1}));
    decay = in_step(decay, steps, Step::first);
  }
  LinearRecurrenceOperands out{in_step(in.queries, steps, Step::last), in.keys, values, decay};
  out.write = in.write;
  out.erase = in.erase;
  out.normalized = options_.normalizer == "sum";
  return out;
}

LinearRecurrenceResult RecurrentMixer::sums(Pass& pass, const Inputs& inputs, const Tensor& values, const Mask& mask,
                                            bool wants_state) const {
  return linear_recurrence(operands(inputs, values),
                           bounds_of_steps(pass, mask, inputs.projected, {widths_.steps, registers_, 0}), wants_state);
}

Tensor RecurrentMixer::finish(Pass& pass, const Tensor& x, const Inputs& inputs, const Tensor& of_heads) const {
  const MixerOptions& o = options_;
  Tensor joined = merge_heads(of_heads);
  if (skip_) { // by rows of all heads: factors of single heads are slower
    const Tensor ones = pass.tape().make({widths_.heads, widths_.value_width});
    std::fill_n(ones.data, ones.size(), Real{1});
    const Tensor factors = reshape(mul(ones, pass(*skip_)), {widths_.values()});
    joined = add(joined, mul(inputs.joined_values, factors));
  }
  const auto gated = [&](const Tensor& of) {
    const Tensor g = (*gate_)(pass, x);
    return mul(of, o.gate == "silu" ? silu(g) : sigmoid(g));
  };
  const auto normed = [&](const Tensor& of) {
    if (o.output_norm == "none") return of;
    if (o.output_norm == "rms") return rms_norm(of, pass(*gain_), norm_epsilon);
    const Tensor heads = reshape(of, {of.shape[0], of.shape[1], widths_.heads, widths_.value_width});
    return reshape(rms_norm(heads, pass(*gain_), norm_epsilon), of.shape);
  };
  if (gate_ && o.gate_first) joined = normed(gated(joined));
  else joined = gate_ ? gated(normed(joined)) : normed(joined);
  return (*output_)(pass, joined);
}

Tensor RecurrentMixer::operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor*) const {
  const Inputs in = inputs(pass, x, {.segments = mask.query_segments});
  const LinearRecurrenceResult result = sums(pass, in, in.values, mask, pass.wants_states());
  const Tensor of_heads = last_steps(result.outputs, widths_.steps);
  if (pass.wants_states())
    pass.show_state(place_, without_registers(in.decay.log_decay, registers_),
                    slice(result.state, 3, 0, widths_.value_width));
  if (pass.wants_weights()) pass.show_weights(place_, weights_without_registers(weights(pass, in, mask), registers_));
  pass.show_heads(place_, of_heads);
  return finish(pass, x, in, of_heads);
}

Tensor RecurrentMixer::weights(Pass& pass, const Tensor& x, const Mask& mask) const {
  return weights(pass, inputs(pass, x, {.segments = mask.query_segments}), mask);
}

Tensor RecurrentMixer::weights(Pass& pass, const Inputs& in, const Mask& mask) const {
  // Values of which each shows one step of a token: the results are the weights.
  const std::int64_t sequences = in.values.shape[0], all = in.values.shape[2], tokens = all / widths_.steps;
  const Tensor each = one_for_each_row(pass, sequences, widths_.heads, all);
  const Tensor of_steps = last_steps(sums(pass, in, each, mask).outputs, widths_.steps);
  if (widths_.steps == 1) return of_steps;
  return sum(reshape(of_steps, {sequences, widths_.heads, tokens, tokens, widths_.steps}), 4);
}

Tensor RecurrentMixer::step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
                            Tensor*) const {
  if (!past) past = std::make_unique<MatrixState>();
  auto& state = dynamic_cast<MatrixState&>(*past);
  const std::int64_t first = state.length();
  const Inputs in = inputs(pass, x, {state.inputs(pass.tape()), mask.query_segments, first});
  LinearRecurrenceOperands all = operands(in, in.values);
  all.state = state.sums(pass.tape());
  const RecurrenceBounds bounds = bounds_of_steps(pass, {.query_segments = mask.query_segments}, x,
                                                  {widths_.steps, registers_, first});
  const LinearRecurrenceResult result = linear_recurrence(all, bounds, true);
  state.set(result.state, in.projected, options_.convolution - 1);
  return finish(pass, x, in, last_steps(result.outputs, widths_.steps));
}

} // namespace heed::HEED_REAL
