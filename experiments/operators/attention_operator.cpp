#include "experiments/operators/attention_operator.hpp"

#include "autograd/error.hpp"
#include "autograd/recompute.hpp"
#include "autograd/thread_pool.hpp"
#include "experiments/config/config.hpp"
#include "experiments/models/model.hpp"
#include "experiments/operators/lost_keys.hpp"
#include "experiments/operators/operator_checks.hpp"
#include "experiments/operators/operator_memory.hpp"
#include "experiments/operators/operator_table.hpp"
#include "experiments/operators/pool.hpp"
#include "experiments/operators/stored_bias.hpp"
#include "layers/attention/attention.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace heed::HEED_REAL {

namespace {

using Kind = OperatorSizes::Kind;

// A part of the batch on one tape.
struct Part {
  TapeLease tape;
  std::int64_t first = 0, count = 0;
  std::vector<Tensor> leaves;                 // of the arguments that require a gradient, in order
  std::optional<StoredBiasPosition> position; // if there is a bias
  Tensor y;
};

// Do two calls have the same arguments, those that are arrays in the same memory?
bool same_memory(const OperatorCall& a, const OperatorCall& b) {
  const auto same = [](const StridedArray& x, const StridedArray& y) {
    return x.data == y.data && x.shape == y.shape && x.stride == y.stride;
  };
  return std::ranges::equal(a.inputs, b.inputs, same) && a.parameters == b.parameters &&
         a.differentiable == b.differentiable && a.lengths == b.lengths && a.allowed == b.allowed &&
         a.allowed_batch == b.allowed_batch && a.allowed_heads == b.allowed_heads && a.offset == b.offset &&
         a.training == b.training && a.seed == b.seed && same(a.bias, b.bias);
}

// The options of the attention that is meant.
LayerChoice choice_of(const Config& config, Kind kind) {
  if (kind != Kind::cross) return config.layers.front();
  LayerChoice out = config.decoder_layers.at(0).for_cross_attention();
  out.attention.causal = false; // the mask of the decoder's own positions
  return out;
}

class Operator final : public AttentionOperator {
public:
  Operator(const Config& config, const OperatorSizes& sizes)
      : sizes_(sizes), choice_(choice_of(config, sizes.kind)), result_width_(sizes.value_width) {
    check(sizes);
    const Scope scope(initial_, init_rules(config));
    const AttentionOptions& options = choice_.attention;
    const bool has_projections = sizes.kind != Kind::heads;
    const MultiHeadAttention::Sizes with_projections{.width = sizes.width,
                                                     .memory_width = sizes.memory_width,
                                                     .heads = sizes.heads,
                                                     .bias = yes(options.qkv_bias, choice_.block.bias),
                                                     .output_bias = yes(options.output_bias, choice_.block.bias),
                                                     .longest = sizes.longest,
                                                     .longest_queries = sizes.longest};
    const RelativeSizes of_heads = has_projections ? MultiHeadAttention::relative_sizes(choice_, with_projections)
                                                   : RelativeSizes{sizes.heads, sizes.query_width, sizes.value_width,
                                                                   sizes.longest};
    const PositionInfo& info = position_info(choice_.position.kind);
    if (info.has_vectors)
      throw Refused(fmt::format("the position '{}' is added to the embeddings, so it does not act within attention: "
                                "add it to the input, or choose another one",
                                choice_.position.kind));
    if (info.make_part && !has_projections)
      throw Refused(
          fmt::format("the position '{}' reads the tokens, and here are only queries, keys and values: choose "
                      "another one, or MultiHeadAttention, which has the tokens",
                      choice_.position.kind));
    if (info.make_relative) position_ = info.make_relative(scope / "position", of_heads, choice_.position_options);
    if (has_projections) {
      MultiHeadAttention::Sizes full = with_projections;
      full.position = position_;
      multi_head_.emplace(scope, choice_, full, residual_init(config));
      result_width_ = initial_.find("output.weight") ? sizes.width : sizes.heads * of_heads.value_width;
    } else {
      heads_.emplace(scope, choice_, ScoreSizes{sizes.heads, sizes.query_width, sizes.key_width, sizes.longest});
      if (heads_->orders_keys() && !options.causal)
        throw Refused(fmt::format("the normaliser '{}' orders the keys before a query: it needs causal attention "
                                  "(causal = true)",
                                  options.normalizer));
      if (const Refusal refused = excluded(choice_, true)) throw Failed("[attention] " + refused.why);
      if (info.wrong_sizes)
        if (const std::string why = info.wrong_sizes(of_heads, choice_.position_options); !why.empty())
          throw Failed("[position] " + why);
    }
    for (const Parameters::Entry& e : initial_.entries()) parameters_.push_back({e.name, e.shape});
  }

  const std::vector<OperatorParameter>& parameters() const override { return parameters_; }
  std::int64_t result_width() const override { return result_width_; }

  void initialise(std::uint64_t seed, const std::vector<void*>& to) const override {
    Parameters drawn = initial_;
    drawn.initialise(seed);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Parameters::Entry& e = drawn.entries()[i];
      std::copy_n(drawn.values({i}), e.shape.size(), static_cast<Real*>(to[i]));
    }
  }

  std::unique_ptr<OperatorState> forward(const OperatorCall& call, const StridedArray& y) const override {
    check(sizes_, *this, call, y);
    return run_forward(call, &y);
  }

  void backward(const OperatorCall& call, std::unique_ptr<OperatorState> given, const StridedArray& dy,
                const std::vector<void*>& gradients) const override {
    check(sizes_, *this, call, dy);
    std::unique_ptr<State> state(static_cast<State*>(given.release()));
    if (state && !same_memory(state->call, call)) state.reset();
    if (!state) state = run_forward(call, nullptr);
    if (!state) return;
    const Gradients to(call, *this, gradients, state->parts.size());
    const ThreadPoolLease threads(call.threads);
    threads->run(static_cast<int>(state->parts.size()), [&](int number, int) {
      Part& part = state->parts[static_cast<std::size_t>(number)];
      for (std::size_t i = 0; i < part.leaves.size(); ++i)
        part.leaves[i].slot->grad = to.of(static_cast<std::size_t>(number), i, part.first);
      part.tape->backward(with_gradients({{part.y, entries_of(dy, part.first, part.count)}}));
      for (const Tensor& leaf : part.leaves)
        if (Tape::untouched(leaf)) std::fill_n(leaf.slot->grad, leaf.size(), Real{0});
    });
    to.add_up();
  }

private:
  class State final : public OperatorState {
  public:
    explicit State(OperatorCall c) : call(std::move(c)) {}
    OperatorCall call;
    std::vector<Part> parts;
  };

  // The memory of the gradients. Each part has its own entries of the inputs' gradients; a parameter's gradient is the
  // sum over the parts, each of which has an array of its own.
  class Gradients {
  public:
    Gradients(const OperatorCall& call, const Operator& owner, const std::vector<void*>& to, std::size_t parts) {
      for (std::size_t i = 0, next = 0; i < call.differentiable.size(); ++i) {
        if (!call.differentiable[i]) continue;
        Of of{static_cast<Real*>(to.at(next++)), 0, 0, {}};
        if (i < call.inputs.size()) {
          const StridedArray& x = call.inputs[i];
          of.entry = gradient_strides(x.shape, x.stride)[0];
        } else {
          const std::size_t n = i - call.inputs.size();
          of.size = n < owner.parameters_.size() ? owner.parameters_[n].shape.size() : call.bias.shape.size();
          of.others.resize(static_cast<std::size_t>(of.size) * (parts > 0 ? parts - 1 : 0));
        }
        all_.push_back(std::move(of));
      }
    }
    Real* of(std::size_t part, std::size_t i, std::int64_t first_entry) const {
      const Of& x = all_[i];
      if (x.size == 0) return x.p + first_entry * x.entry;
      return part == 0 ? x.p : const_cast<Real*>(x.others.data()) + static_cast<std::int64_t>(part - 1) * x.size;
    }
    void add_up() const {
      for (const Of& x : all_)
        for (std::size_t i = 0; i < x.others.size(); ++i) x.p[i % static_cast<std::size_t>(x.size)] += x.others[i];
    }

  private:
    struct Of {
      Real* p;
      std::int64_t entry, size; // of an input: the distance of its entries; of a parameter: its size
      std::vector<Real> others;
    };
    std::vector<Of> all_;
  };

  // Null if no argument requires a gradient.
  std::unique_ptr<State> run_forward(const OperatorCall& call, const StridedArray* y) const {
    const std::int64_t batch = call.inputs.front().shape[0];
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(batch, std::max(call.threads, 1)));
    const bool records = std::ranges::count(call.differentiable, true) > 0;
    auto state = std::make_unique<State>(call);
    for (std::size_t n = 0; n < count; ++n) {
      Part& part = state->parts.emplace_back();
      const int all = static_cast<int>(count), number = static_cast<int>(n);
      part.first = begin_of_part(batch, number, all);
      part.count = begin_of_part(batch, number + 1, all) - part.first;
    }
    const ThreadPoolLease threads(call.threads);
    threads->run(static_cast<int>(count), [&](int number, int) {
      Part& part = state->parts[static_cast<std::size_t>(number)];
      Tape& tape = *part.tape;
      tape.record(records);
      part.y = run_part(call, part, tape);
      if (y) {
        const StridedArray to = entries_of(*y, part.first, part.count);
        put_into(constant_view(tape, static_cast<Real*>(to.data), to.shape, to.stride), part.y);
      }
    });
    if (!records) return nullptr;
    return state;
  }

  Tensor run_part(const OperatorCall& call, Part& part, Tape& tape) const {
    const auto differentiable = [&](std::size_t i) { return i < call.differentiable.size() && call.differentiable[i]; };
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const OperatorOperand x = operand(tape, entries_of(call.inputs[i], part.first, part.count), differentiable(i),
                                        gradient_strides(call.inputs[i].shape, call.inputs[i].stride));
      inputs.push_back(x.value);
      if (x.leaf.tape) part.leaves.push_back(x.leaf);
    }
    const Mask mask = mask_of(call, inputs, part.first);
    // Without gradients, what is lost can only show in the result, which is smaller than the keys of a cache.
    if (std::ranges::count(call.differentiable, true) == 0)
      if (const Tensor y = attend(call, part, tape, inputs, mask); !LostKeys::in(y).any()) return y;
    return with_lost_keys(call, part, tape, inputs, mask);
  }

  // The same, where keys or values may hold numbers that are not finite.
  Tensor with_lost_keys(const OperatorCall& call, Part& part, Tape& tape, std::vector<Tensor> inputs,
                        const Mask& mask) const {
    const std::int64_t queries = inputs[0].shape[-2];
    LostKeys::Found keys = LostKeys::in(inputs.back()), own;
    if (heads_) keys.add(LostKeys::in(inputs[1]));
    if (multi_head_) keys.spread(multi_head_->earlier_tokens());
    if (multi_head_) own = inputs.size() == 1 ? keys : LostKeys::in(inputs[0]);
    if (!keys.any() && !own.any()) return attend(call, part, tape, inputs, mask);
    for (std::size_t i = heads_ ? 1 : 0; i < inputs.size(); ++i) inputs[i] = finite_or_zero(inputs[i]);
    const Tensor y = attend(call, part, tape, inputs, mask);
    const LostKeys lost(choice_, sizes_.heads, sizes_.longest);
    return add(y, multi_head_ ? lost.for_tokens(tape, own, keys, queries, mask)
                              : lost.for_queries(tape, keys, queries, mask));
  }

  Tensor attend(const OperatorCall& call, Part& part, Tape& tape, const std::vector<Tensor>& inputs,
                const Mask& mask) const {
    // The pass reads the parameters' names and shapes only: their values are the caller's.
    Pass pass(tape, initial_, nullptr, {.training = call.training, .seed = call.seed, .first_sequence = part.first});
    const auto differentiable = [&](std::size_t i) { return i < call.differentiable.size() && call.differentiable[i]; };
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
      auto* values = static_cast<Real*>(const_cast<void*>(call.parameters[i]));
      Tensor& leaf = pass.state().leaves[i];
      if (differentiable(call.inputs.size() + i)) {
        leaf = tape.leaf(values, gradient_to_come(values), parameters_[i].shape);
        part.leaves.push_back(leaf);
      } else {
        leaf = tape.constant(values, parameters_[i].shape);
      }
    }
    if (multi_head_)
      return inputs.size() == 1 ? (*multi_head_)(pass, inputs[0], mask)
                                : (*multi_head_)(pass, inputs[0], inputs[1], mask);
    const RelativePosition* position = position_.get();
    if (call.bias.data) {
      auto* values = static_cast<Real*>(call.bias.data);
      Tensor bias = tape.constant(values, call.bias.shape);
      if (differentiable(call.inputs.size() + call.parameters.size())) {
        bias = tape.leaf(values, gradient_to_come(values), call.bias.shape);
        part.leaves.push_back(bias);
      }
      position = &part.position.emplace(position, bias, call.offset);
    }
    const AttentionInputs all{
        .queries = inputs[0], .values = inputs[2], .keys = inputs[1], .mask = mask, .position = position};
    return (*heads_)(pass, all);
  }

  Mask mask_of(const OperatorCall& call, const std::vector<Tensor>& inputs, std::int64_t first) const {
    Mask mask;
    mask.offset = call.offset;
    if (call.lengths) mask.lengths = call.lengths + first;
    if (call.allowed) {
      const std::int64_t queries = inputs.front().shape[-2], keys = inputs.back().shape[-2];
      mask.allowed_shared = call.allowed_batch == 1;
      mask.allowed_heads = call.allowed_heads;
      mask.allowed = call.allowed + (mask.allowed_shared ? 0 : first * call.allowed_heads * queries * keys);
    }
    return self_attention_mask(choice_.attention, mask);
  }

  OperatorSizes sizes_;
  LayerChoice choice_;
  std::int64_t result_width_;
  mutable Parameters initial_; // names and shapes; it never has values
  std::shared_ptr<const RelativePosition> position_;
  std::optional<Attention> heads_;
  std::optional<MultiHeadAttention> multi_head_;
  std::vector<OperatorParameter> parameters_;
};

} // namespace

std::unique_ptr<AttentionOperator> make_attention_operator(const Config& config, const OperatorSizes& sizes) {
  return std::make_unique<Operator>(config, sizes);
}

} // namespace heed::HEED_REAL
