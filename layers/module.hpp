// The base of every layer: Scope (names and adds parameters), Pass (one forward pass) and Observer (reads values in a
// pass).
//
// A layer is a plain struct. Its constructor takes a Scope, which names and adds its parameters; its call operator
// takes a Pass and tensors.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/parameters.hpp"
#include "layers/init_rule.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::HEED_REAL {

/// What a stack of layers reads: the task's input, or, in the decoder of an encoder-decoder, the task's output.
enum class Reads { input, outputs };

/// A layer's place in a model: the prefix of its parameters' names, the rules for initial values, and what the stack
/// reads.
class Scope {
public:
  /// `weight_init` initialises weight matrices unless the layer chooses another distribution.
  Scope(Parameters& parameters, const Init& weight_init, std::string prefix = "")
      : Scope(parameters, InitRules(weight_init), std::move(prefix)) {}
  Scope(Parameters& parameters, const InitRules& rules, std::string prefix = "")
      : parameters_(&parameters), rules_(rules), prefix_(std::move(prefix)) {}

  Scope(const Scope&);
  Scope& operator=(const Scope&);
  ~Scope();

  /// The scope of a part: "blocks" / "0" / "attention" gives the prefix "blocks.0.attention.".
  Scope operator/(const std::string& part) const;
  /// The same place with another rule for the initial values of linear maps.
  Scope starting_with(const InitRule& start) const;
  /// Likewise, unless the configuration has chosen a rule for all linear maps.
  Scope starting_by_itself_with(const InitRule& start) const {
    return rules_.linear_is_chosen ? *this : starting_with(start);
  }
  /// The scope of the linear map to the logits.
  Scope output_layer() const {
    Scope out = starting_with(rules_.head);
    out.is_output_layer_ = true;
    return out;
  }
  /// The same place, but layers made here reuse the parameters that a layer of the same kind has added in `other`. No
  /// parameter is added. Adding a parameter here throws heed::Failed if it does not exist in `other` or has a different
  /// shape.
  Scope sharing(const Scope& other) const;
  /// The same place in a stack that reads the task's output.
  Scope reading_outputs() const {
    Scope out = *this;
    out.reads_ = Reads::outputs;
    return out;
  }

  /// The weights of a linear map, [out, in]. Pass `fans` if they cannot be read from the shape. Weight decay applies.
  ParameterId weight(const std::string& name, const Shape& shape) const {
    return weight(name, shape, Fans{.in = shape[-1], .out = shape[-2]});
  }
  ParameterId weight(const std::string& name, const Shape& shape, const Fans& fans,
                     WeightDecay decay = WeightDecay::yes) const {
    return add(name, shape, rules_.linear.weight(fans), decay, is_map(shape));
  }
  /// The same with initial values of the layer's own.
  ParameterId weight(const std::string& name, const Shape& shape, const Init& init) const {
    return add(name, shape, init, WeightDecay::yes, is_map(shape));
  }
  /// The biases of a linear map, [out].
  ParameterId bias(const std::string& name, std::int64_t out, std::int64_t fan_in) const {
    return no_decay(name, {out}, rules_.linear.bias(fan_in));
  }
  /// Vectors of tokens, or of positions: [..., count, width]. Weight decay applies.
  ParameterId embedding(const std::string& name, const Shape& shape) const {
    return add(name, shape, rules_.embedding.weight({.in = shape[-1], .out = shape[-2]}), WeightDecay::yes);
  }
  ParameterId position(const std::string& name, const Shape& shape) const {
    return add(name, shape, rules_.position.weight({.in = shape[-1], .out = shape[-2]}), WeightDecay::yes);
  }
  /// Learned vectors that stand for no token and no position, [count, width], with initial values of the layer's own.
  /// Weight decay applies.
  ParameterId vectors(const std::string& name, const Shape& shape, const Init& init) const {
    return add(name, shape, init, WeightDecay::yes);
  }
  /// A filter for each channel, [channels, taps]. Filters start uniformly within 1 / sqrt(taps), as those of
  /// torch.nn.Conv1d with a group for each channel. Weight decay applies.
  ParameterId filters(const std::string& name, const Shape& shape) const {
    return filters(name, shape, Init::uniform(1 / std::sqrt(static_cast<double>(shape[-1]))));
  }
  /// The same with initial values of the layer's own.
  ParameterId filters(const std::string& name, const Shape& shape, const Init& init) const {
    return add(name, shape, init, WeightDecay::yes);
  }
  /// A parameter without weight decay: a bias, a gain, a temperature, or a vector with one weight per feature, also for
  /// all heads together.
  ParameterId no_decay(const std::string& name, const Shape& shape, const Init& init) const {
    return add(name, shape, init, WeightDecay::no);
  }
  /// Declares the matrices that are stacked in a linear map's weights, by their numbers of rows.
  void set_parts(ParameterId weight, std::vector<std::int64_t> rows) const {
    parameters_->set_parts(weight, std::move(rows));
  }
  bool qkv_as_one() const { return rules_.qkv_as_one; }

  /// The layer's name, for example "blocks.0.attention"; empty for the whole model.
  std::string name() const { return prefix_.substr(0, prefix_.empty() ? 0 : prefix_.size() - 1); }
  Reads reads() const { return reads_; }

private:
  ParameterId add(const std::string& name, const Shape& shape, const Init& init, WeightDecay decay,
                  bool is_map = false) const;
  ParameterId shared(const std::string& name, const Shape& shape) const;
  bool is_map(const Shape& shape) const { return !is_output_layer_ && shape.rank >= 2; }

  Parameters* parameters_;
  InitRules rules_;
  std::string prefix_;
  Reads reads_ = Reads::input;
  bool is_output_layer_ = false;
  std::optional<std::string> shared_prefix_{}; // replaces the first `own_length_` characters of the prefix
  std::size_t own_length_ = 0;                 // length of the replaced prefix
};

/// Identifies an attention layer for observers.
struct AttentionPlace {
  enum class Kind {
    self,    ///< from the stack's input to itself
    cross,   ///< from a decoder to the encoder output
    pooling, ///< from a learned query to the stack's input
  };
  std::string module; ///< the layer's name: "blocks.0.attention"
  Kind kind = Kind::self;
  Reads reads = Reads::input; ///< what the stack reads
  std::int64_t maps = 1;      ///< of each head in `Observer::scores`: 2 with differential attention
};

/// The interface of observers, which read values during a pass or change them. Modules are identified by the names of
/// their scopes. A module that is called several times in a pass reports each call.
class Observer {
public:
  virtual ~Observer() = default;
  /// Are attention weights wanted? They are only computed on request, because streaming kernels never store them.
  virtual bool wants_weights() const { return false; }
  /// The weights of an attention, before dropout: [B, H, Tq, Tk].
  virtual void weights(const AttentionPlace& attention, const Tensor& weights);
  /// Are scores wanted? They are computed a second time for the observer.
  virtual bool wants_scores() const { return false; }
  /// The input of an attention's normaliser: [B, H, queries, keys], -infinity where a query does not attend to a key.
  /// It may come in parts: some queries of one batch entry, [1, H, some queries, keys], without the last keys if none
  /// of these queries sees them. With differential attention, the queries' scores in the second map of a head follow
  /// those in the first.
  virtual void scores(const AttentionPlace& attention, const Tensor& scores);
  /// Are the states of recurrences wanted?
  virtual bool wants_states() const { return false; }
  /// Of a recurrence over a matrix of state: the logarithm of the decay of each token, as LinearRecurrenceOperands has
  /// it (no tape: the state does not decay), and the state after the last token, [B, H, K, V].
  virtual void state(const AttentionPlace& mixer, const Tensor& log_decay, const Tensor& state);
  /// The output of an attention's heads: [B, H, Tq, Dv]. If the tape does not record, the observer may change the
  /// values.
  virtual void heads(const AttentionPlace& attention, const Tensor& heads);
  /// The output of a module.
  virtual void output(std::string_view module, const Tensor& output);
  /// The output of a Transformer block, [B, T, width]. `output` is called for it, too.
  virtual void block(std::string_view module, const Tensor& output);
};

/// One forward pass over some sequences of a batch: access to parameters, tape, dropout and observer.
class Pass {
public:
  struct Options {
    bool training = false;  ///< dropout is active, gradients are computed
    std::uint64_t seed = 0; ///< determines dropout, together with the step
    std::int64_t step = 0;
    /// index of the pass's first sequence in the batch, so that shards have the same randomness
    std::int64_t first_sequence = 0;
    /// for decoding: index of each sequence; empty: `first_sequence` and the following
    std::span<const std::int64_t> sequences{};
    Observer* observer = nullptr; ///< null: none
    /// In an evaluation at a length ([train] evaluate_lengths): the length of the sequences, by what a stack reads.
    /// 0: other sequences.
    std::int64_t evaluated_length = 0, evaluated_output_length = 0;
  };

  /// `gradients` has the layout of `parameters`; null if no gradients are wanted.
  Pass(Tape& tape, Parameters& parameters, Real* gradients, const Options& options);

  /// A part of an attention [B, H, queries, keys]: some queries of one batch entry, with the first keys.
  struct Part {
    std::int64_t entry, first_query, some_queries, some_keys, queries, keys;
  };
  /// The data from which a part of the pass can be computed again in the backward pass. The pass may have ended by
  /// then, but the parameters must still live.
  struct State {
    Tape* tape;
    Parameters* parameters;
    Real* gradients;
    Options options;
    Tensor* leaves;
    std::uint64_t dropout_sites;
  };
  const State& state() const { return state_; }
  /// A pass over one part of attention, starting from that state. Its random numbers are the same as in the whole. It
  /// has no observer.
  Pass(const State& state, const Part& part);
  /// Sets the dropout counter to the value that the parts have reached, so that later dropout differs from theirs.
  void go_on_after(std::uint64_t dropout_sites) { state_.dropout_sites = dropout_sites; }

  Tape& tape() const { return *state_.tape; }
  bool training() const { return state_.options.training; }
  /// The length of the sequences in an evaluation at a length; 0 in other passes.
  std::int64_t evaluated_length(Reads reads) const {
    return reads == Reads::input ? state_.options.evaluated_length : state_.options.evaluated_output_length;
  }

  /// The leaf of a parameter. All calls in a pass return the same one.
  Tensor operator()(ParameterId id);

  /// Dropout of x, whose first axis is the batch's sequences. Returns x itself if dropout is inactive.
  Tensor dropout(const Tensor& x, double probability);
  /// The random key of the pass's next dropout site, for values of shape [sequences of the batch, ...]. In a pass over
  /// a part of attention, the shape must be that of its queries and keys, [1, H, some queries, some keys]; otherwise
  /// throws heed::Failed.
  struct DropoutPlace {
    RandomKey key;
    Numbering numbers;
  };
  DropoutPlace next_dropout(const Shape& shape);

  /// Sets the gradients of all parameters that the backward pass did not reach to zero.
  void finish_gradients();

  /// Is there an observer?
  bool observed() const { return state_.options.observer; }
  /// For layers: does the observer want attention weights?
  bool wants_weights() const { return state_.options.observer && state_.options.observer->wants_weights(); }
  /// For layers: pass their outputs to the observer. Without an observer they do nothing.
  void show_weights(const AttentionPlace& attention, const Tensor& weights) const {
    if (wants_weights()) state_.options.observer->weights(attention, weights);
  }
  bool wants_scores() const { return state_.options.observer && state_.options.observer->wants_scores(); }
  void show_scores(const AttentionPlace& attention, const Tensor& scores) const {
    if (wants_scores()) state_.options.observer->scores(attention, scores);
  }
  bool wants_states() const { return state_.options.observer && state_.options.observer->wants_states(); }
  void show_state(const AttentionPlace& mixer, const Tensor& log_decay, const Tensor& state) const {
    if (wants_states()) state_.options.observer->state(mixer, log_decay, state);
  }
  void show_heads(const AttentionPlace& attention, const Tensor& heads) const {
    if (state_.options.observer) state_.options.observer->heads(attention, heads);
  }
  void show(std::string_view module, const Tensor& output) const {
    if (state_.options.observer) state_.options.observer->output(module, output);
  }
  void show_block(std::string_view module, const Tensor& output) const {
    show(module, output);
    if (state_.options.observer) state_.options.observer->block(module, output);
  }
  /// Reports the output of the module that owns the parameter, and returns the output.
  const Tensor& show(ParameterId id, const Tensor& output) const {
    if (state_.options.observer) show((*state_.parameters)[id].module, output);
    return output;
  }

private:
  State state_;
  std::optional<Part> part_;
};

} // namespace heed::HEED_REAL
