#include "autograd/causal_convolution.hpp"
#include "autograd/recompute.hpp"
#include "layers/attention/heads.hpp"
#include "layers/linear.hpp"
#include "layers/mixers/matrix_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  bool token_shift = true, value_residual = true, bonus = true, gate = true;
  std::int64_t decay_rank = 0, erase_rank = 0, value_rank = 0, gate_rank = 0;
};

const OptionTable<Options>& table() {
  const auto rank = [](const char* name, std::int64_t Options::*of, const char* what, const char* factor) {
    return option(name, of, fmt::format("the rank of the maps of {}", what))
        .between(0, 65536)
        .unit("features")
        .default_means(fmt::format("0: {} sqrt(width) rounded to a multiple of 32, at least 32", factor));
  };
  static const auto t = option_table<Options>(
      option("token_shift", &Options::token_shift,
             "each map reads x_t + m (x_(t-1) - x_t) with learned factors m of its own, or x_t"),
      option("value_residual", &Options::value_residual,
             "values v of later blocks become v + f (v_1 - v), with v_1 those of the first block and f = sigmoid of a "
             "map of the token"),
      option("bonus", &Options::bonus, "a token's own value is added, times the sum of q k c over the head, c learned"),
      option("gate", &Options::gate, "the results are multiplied by W_2 sigmoid(W_1 x)"),
      rank("decay_rank", &Options::decay_rank, "the decay", "2.5"),
      rank("erase_rank", &Options::erase_rank, "the strength of the erase", "2.5"),
      rank("value_rank", &Options::value_rank, "the factor f of the values", "1.7")
          .only_if("mixer.rwkv7.value_residual", {"true"}),
      rank("gate_rank", &Options::gate_rank, "the gate", "5").only_if("mixer.rwkv7.gate", {"true"}));
  return t;
}

std::int64_t rank_of(std::int64_t given, double factor, std::int64_t width) {
  if (given > 0) return given;
  constexpr std::int64_t multiple = 32;
  return std::max<std::int64_t>(multiple * std::llround(factor * std::sqrt(static_cast<double>(width)) / multiple),
                                multiple);
}

std::int64_t heads_of(const LayerChoice& choice, const MixerSizes& sizes) {
  return choice.mixer.heads ? choice.mixer.heads : sizes.heads;
}

// The numbers of the published starts, of channel n of C and block l of L.
struct Start {
  double channels, head_width, layer, layers;

  template <class F> Init listed(F&& f) const {
    std::vector<double> numbers;
    for (double n = 0; n < channels; ++n) numbers.push_back(f(n));
    return Init::listed(std::move(numbers));
  }
  double place(double n) const { return channels > 1 ? n / (channels - 1) : 0; } // 0..1
  double in_head(double n) const {                                               // z |z|, z from -1 to 1 in each head
    const double half = (head_width - 1) / 2, z = half > 0 ? (std::fmod(n, head_width) - half) / half : 0;
    return z * std::abs(z);
  }
  Init shift(double exponent) const {
    return listed([&](double n) { return 1 - std::pow(n / channels, exponent * (1 - layer / layers)); });
  }
  Init decay() const {
    const double depth = layers > 1 ? layer / (layers - 1) : 0;
    return listed([&](double n) { return -5.5 + 6 * std::pow(place(n), 1 + std::pow(depth, 0.3)) + 2.5 * in_head(n); });
  }
  Init erase() const {
    return listed([&](double n) { return -0.19 + 0.3 * in_head(n) + 0.4 * (place(n) - 0.5); });
  }
  Init value() const {
    return listed([&](double n) { return 0.73 - 0.4 * (place(n) - 0.5); });
  }
  Init erase_key() const {
    return listed([&](double n) { return 0.71 - 0.1 * (place(n) - 0.5); });
  }
};

// The maps that read a token, each with its own factors of the token shift, in the order of the published names r, w,
// k, v, a and g.
enum Reader : std::size_t { query, decay, key, value, erase, gate, readers };
constexpr std::array<const char*, readers> reader_names{"query", "decay", "key", "value", "erase", "gate"};
constexpr std::array<double, readers> shift_exponents{0.2, 0.9, 0.7, 0.7, 0.9, 0.2};

// f(x W_1^T) W_2^T (+ b): W_1 starts at 0, W_2 as a matrix with orthogonal rows or columns.
class LowRankMap {
public:
  LowRankMap(const Scope& scope, std::int64_t in, std::int64_t rank, std::int64_t out, const std::optional<Init>& bias)
      : down_(scope.starting_by_itself_with(Init::zeros())
                  .weight("down", {rank, in}, {.in = in, .out = rank}, WeightDecay::no)),
        up_(scope
                .starting_by_itself_with(Init::orthogonal(0.1 * std::sqrt(std::max(1.0, static_cast<double>(rank) /
                                                                                            static_cast<double>(out)))))
                .weight("up", {out, rank}, {.in = rank, .out = out}, WeightDecay::no)) {
    if (bias) bias_ = scope.no_decay("bias", {out}, *bias);
  }
  template <class F> Tensor operator()(Pass& pass, const Tensor& x, F&& f) const {
    const Tensor low = f(linear(x, pass(down_)));
    return bias_ ? linear(low, pass(up_), pass(*bias_)) : linear(low, pass(up_));
  }
  Tensor operator()(Pass& pass, const Tensor& x) const {
    return (*this)(pass, x, [](const Tensor& y) { return y; });
  }

private:
  ParameterId down_, up_;
  std::optional<ParameterId> bias_;
};

/// RWKV-7 "Goose" (Peng et al. 2025, arXiv 2503.14456): for each head, with p the key scaled by learned factors and of
/// length 1, a the strength of the erase and f the decay,
///   S_t = Diag(f_t) S_(t-1) - (a_t p_t) (p_t^T S_(t-1)) + k'_t v_t^T     o_t = S_t^T q_t     k' = k (1 + (a - 1) c)
/// Here the state is [keys, values], the transpose of the paper's. The erase reads the state before the decay. An erase
/// and a write are two steps of `linear_recurrence`.
class Rwkv7 final : public MatrixStateMixer {
public:
  Rwkv7(const Scope& scope, const LayerChoice& choice, const MixerSizes& sizes, const InitRule& output_init)
      : place_{scope.name(), AttentionPlace::Kind::self, scope.reads()}, sizes_(sizes),
        heads_(heads_of(choice, sizes)) {
    const Options o = table().read(choice.mixer_options);
    const std::int64_t width = sizes.width, of_head = width / heads_;
    const Start start{static_cast<double>(width), static_cast<double>(of_head), static_cast<double>(sizes.layer),
                      static_cast<double>(sizes.layers)};
    for (std::size_t reader = 0; o.token_shift && reader < readers; ++reader)
      if (reader != gate || o.gate)
        shifts_.at(reader) =
            (scope / "shift").no_decay(reader_names.at(reader), {width}, start.shift(shift_exponents.at(reader)));
    const auto map = [&](std::optional<Linear>& to, Reader reader, double bound) {
      to.emplace(scope.starting_by_itself_with(Init::uniform(bound / std::sqrt(static_cast<double>(width)))) /
                     reader_names.at(reader),
                 width, width, false);
    };
    map(query_, query, 0.5);
    map(key_, key, 0.05);
    map(value_, value, 0.5);
    const auto low = [&](std::optional<LowRankMap>& to, const std::string& name, std::int64_t rank,
                         const std::optional<Init>& bias) { to.emplace(scope / name, width, rank, width, bias); };
    low(decay_, "decay", rank_of(o.decay_rank, 2.5, width), start.decay());
    low(erase_, "erase", rank_of(o.erase_rank, 2.5, width), start.erase());
    acts_on_values_ = o.value_residual && sizes.layer > 0;
    if (acts_on_values_ || (o.value_residual && sizes.shared_layers && sizes.layers > 1))
      low(value_mix_, "value_residual", rank_of(o.value_rank, 1.7, width), start.value());
    if (o.gate) low(gate_, "gate", rank_of(o.gate_rank, 5, width), std::nullopt);
    erase_key_ = scope.no_decay("erase_key", {width}, start.erase_key());
    key_by_erase_ = scope.no_decay("key_by_erase", {width}, Init::constant(1.02));
    if (o.bonus) bonus_ = scope.no_decay("bonus", {heads_, 1, width / heads_}, Init::constant(-0.04));
    gain_ =
        (scope / "norm").no_decay("weight", {width}, Init::constant(std::pow((start.layer + 1) / start.layers, 0.7)));
    shift_of_norm_ = (scope / "norm").no_decay("bias", {width}, Init::zeros());
    output_.emplace((scope / "output").starting_with(output_init).starting_by_itself_with(Init::zeros()), width, width,
                    false);
  }

  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor* first_values) const override {
    const Inputs in = inputs(pass, x, {.segments = mask.query_segments}, first_values);
    const LinearRecurrenceResult result = linear_recurrence(operands(in, in.values), bounds(pass, mask, x, 0),
                                                            pass.wants_states());
    const Tensor of_heads = last_steps(result.outputs, 2);
    if (pass.wants_states()) pass.show_state(place_, without_registers(in.decay, sizes_.registers), result.state);
    if (pass.wants_weights())
      pass.show_weights(place_, weights_without_registers(weights(pass, in, x, mask), sizes_.registers));
    pass.show_heads(place_, of_heads);
    return finish(pass, in, of_heads);
  }

  Tensor step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
              Tensor* first_values) const override {
    if (!past) past = std::make_unique<MatrixState>();
    auto& state = dynamic_cast<MatrixState&>(*past);
    const std::int64_t first = state.length();
    const Inputs in = inputs(pass, x, {state.inputs(pass.tape()), mask.query_segments, first}, first_values);
    LinearRecurrenceOperands all = operands(in, in.values);
    all.state = state.sums(pass.tape());
    const LinearRecurrenceResult result =
        linear_recurrence(all, bounds(pass, {.query_segments = mask.query_segments}, x, first), true);
    state.set(result.state, x, shifts_[query] ? 1 : 0);
    return finish(pass, in, last_steps(result.outputs, 2));
  }

  bool serves_steps() const override { return true; }
  std::int64_t values_width() const override { return sizes_.width; }

  Tensor weights(Pass& pass, const Tensor& x, const Mask& mask) const override {
    Tensor values_of_first; // which values the weights are of makes no difference
    if (acts_on_values_) values_of_first = pass.tape().zeros(x.shape);
    return weights(pass, inputs(pass, x, {.segments = mask.query_segments}, &values_of_first), x, mask);
  }

private:
  // What the maps make of the tokens.
  struct Inputs {
    Tensor of_gate;                                          // what the gate's maps read, [B, T, width]
    Tensor queries, keys, values, erased, erase_keys, decay; // [B, heads, T, width of a head]
  };

  Tensor read_by(Pass& pass, Reader reader, const Tensor& x, const ConvolutionStart& start) const {
    if (!shifts_[reader]) return x;
    const Tensor m = unsqueeze(pass(*shifts_[reader]), 1);
    return causal_convolution(x, concat({m, scale(m, -1, 1)}, 1), nullptr, start);
  }

  Inputs inputs(Pass& pass, const Tensor& x, const ConvolutionStart& start, Tensor* first_values) const {
    const auto of = [&](Reader reader) { return read_by(pass, reader, x, start); };
    const auto heads = [&](const Tensor& y) { return split_heads(y, heads_); };
    Inputs out;
    if (gate_) out.of_gate = of(gate);
    const Tensor k = (*key_)(pass, of(key)), for_values = of(value), a = sigmoid((*erase_)(pass, of(erase)));
    Tensor v = (*value_)(pass, for_values);
    if (sizes_.hands_on_values) {
      if (!first_values) throw Failed("[mixer] the values are for later blocks, which have no place for them");
      if (first_values->tape) put_into(*first_values, v);
      else *first_values = v;
    }
    if (acts_on_values_) {
      if (!first_values) throw Failed("[mixer] rwkv7 needs the values of the first block");
      v = add(v, mul(sub(*first_values, v), sigmoid((*value_mix_)(pass, for_values))));
    }
    constexpr double largest_decay = 0.6065306597126334; // exp(-1/2)
    const Tensor w = (*decay_)(pass, of(decay), [](const Tensor& y) { return tanh(y); });
    out.decay = heads(scale(sigmoid(w), static_cast<Real>(-largest_decay)));
    out.queries = heads((*query_)(pass, of(query)));
    const Tensor p = l2_normalize(heads(mul(k, pass(erase_key_))));
    out.erased = mul(heads(a), p);
    out.erase_keys = mul(exp(scale(out.decay, -1)), p); // the operator's erase reads the state after the decay
    out.keys = heads(mul(k, scale(mul(scale(a, 1, -1), pass(key_by_erase_)), 1, 1)));
    out.values = heads(v);
    return out;
  }

  // Of two steps for each token: the erase with the decay, and the write.
  LinearRecurrenceOperands operands(const Inputs& in, const Tensor& values) const {
    const auto alternating = [](const Tensor& first, const Tensor& second) {
      return reshape(concat({unsqueeze(first, 3), unsqueeze(second, 3)}, 3),
                     {first.shape[0], first.shape[1], 2 * first.shape[2], first.shape[3]});
    };
    LinearRecurrenceOperands out{in_step(in.queries, 2, Step::last), alternating(in.erased, in.keys),
                                 in_step(values, 2, Step::last), in_step(in.decay, 2, Step::first)};
    out.erase_keys = in_step(in.erase_keys, 2, Step::first);
    return out;
  }

  RecurrenceBounds bounds(Pass& pass, const Mask& mask, const Tensor& x, std::int64_t first) const {
    return bounds_of_steps(pass, mask, x, {2, sizes_.registers, first});
  }

  Tensor weights(Pass& pass, const Inputs& in, const Tensor& x, const Mask& mask) const {
    const Tensor each = one_for_each_row(pass, x.shape[0], heads_, x.shape[1]);
    return last_steps(linear_recurrence(operands(in, each), bounds(pass, mask, x, 0)).outputs, 2);
  }

  Tensor finish(Pass& pass, const Inputs& in, const Tensor& of_heads) const {
    const std::int64_t width = sizes_.width / heads_;
    const Tensor ones = pass.tape().make({width});
    std::fill_n(ones.data, width, Real{1});
    const Real epsilon = Real(1e-5) * static_cast<Real>(width);
    Tensor y = add(mul(merge_heads(layer_norm(of_heads, ones, nullptr, epsilon)), pass(gain_)), pass(shift_of_norm_));
    if (bonus_) {
      const Tensor own = sum(mul(mul(in.queries, in.keys), pass(*bonus_)), -1, true);
      y = add(y, merge_heads(mul(own, in.values)));
    }
    if (gate_) y = mul(y, (*gate_)(pass, in.of_gate, [](const Tensor& low) { return sigmoid(low); }));
    return (*output_)(pass, y);
  }

  AttentionPlace place_;
  MixerSizes sizes_;
  std::int64_t heads_;
  bool acts_on_values_ = false;
  std::array<std::optional<ParameterId>, readers> shifts_;
  std::optional<Linear> query_, key_, value_, output_;
  std::optional<LowRankMap> decay_, erase_, value_mix_, gate_;
  ParameterId erase_key_, key_by_erase_, gain_, shift_of_norm_;
  std::optional<ParameterId> bonus_;
};

// All options of [mixer] but those of this mixer.
std::vector<std::string> without_effect() {
  std::vector<std::string> out{"attention"};
  for (const Option& o : mixer_option_table().options())
    if (o.name != "kind" && o.name != "heads") out.push_back("mixer." + o.name);
  return out;
}

Refusal refusal_of(const LayerChoice& choice, const MixerSizes& sizes, const ValuesByName& others) {
  if (Refusal by_choices = excluded(choice, true, others)) return by_choices;
  const std::int64_t heads = heads_of(choice, sizes);
  if (sizes.width % heads != 0)
    return {
        fmt::format("{} heads do not divide the width {}: set mixer.heads to a number that does", heads, sizes.width),
        {}};
  return {};
}

bool uses_first_values(const LayerChoice& choice, std::int64_t layer) {
  return layer > 0 && table().read(choice.mixer_options).value_residual;
}

} // namespace

extern const MixerInfo mixer_rwkv7{
    .about = {.name = "rwkv7",
              .summary =
                  "S_t = Diag(f_t) S_(t-1) - (a_t p_t) (p_t^T S_(t-1)) + k_t v_t^T with a decay f_t, a key p_t of "
                  "length 1 that erases, and its strength a_t of each channel; a token shift, and the first block's "
                  "values in later ones (RWKV-7)",
              .paper = "Peng et al. 2025, arXiv 2503.14456",
              .cost = "4 width^2 parameters, and 2 width for each rank of decay, erase, values and gate; 12 K V "
                      "operations for each token and head",
              .options = table().options(),
              .presets = {{"position.kind", Value(std::string("none"))}},
              .disables = without_effect(),
              .conditions = {{"mixer.rwkv7.value_residual", "model.layers", {"1"}, true},
                             {"model.scaled_init", "block.ffn", {"true"}}}},
    .make = [](const Scope& scope, const LayerChoice& choice, const MixerSizes& sizes, const InitRule& output_init)
        -> std::unique_ptr<Mixer> { return std::make_unique<Rwkv7>(scope, choice, sizes, output_init); },
    .refusal_of = refusal_of,
    .shape_of_values = [](const LayerChoice& choice, const MixerSizes& sizes) -> ValuesShape {
      const std::int64_t heads = heads_of(choice, sizes);
      return {heads, sizes.width / heads};
    },
    .uses_first_values = uses_first_values};

} // namespace heed::HEED_REAL
