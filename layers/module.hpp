// What every layer is made of: parameters by name, and the pass in which it is called.
//
// A layer is a plain struct. Its constructor takes a Scope, which names and adds its parameters; its call operator
// takes a Pass and tensors.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/parameters.hpp"
#include "layers/init_rule.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::HEED_REAL {

/// What a stack of layers reads: the task's input, or, in the decoder of an encoder-decoder, the outputs.
enum class Reads { input, outputs };

/// Where in a model a layer stands: a prefix for the names of its parameters, how weights start, and what is read
/// there.
class Scope {
public:
  /// `weight_init` is what weight matrices start with where the layer does not say otherwise.
  Scope(Parameters& parameters, const Init& weight_init, std::string prefix = "")
      : Scope(parameters, InitRules(weight_init), std::move(prefix)) {}
  Scope(Parameters& parameters, const InitRules& rules, std::string prefix = "")
      : parameters_(&parameters), rules_(rules), prefix_(std::move(prefix)) {}

  Scope(const Scope&);
  Scope& operator=(const Scope&);
  ~Scope();

  /// The scope of a part: "blocks" / "0" / "attention" names "blocks.0.attention.".
  Scope operator/(const std::string& part) const;
  /// The same place with another start for linear maps.
  Scope starting_with(const InitRule& start) const;
  /// Likewise, unless the configuration has chosen one for all linear maps.
  Scope starting_by_itself_with(const InitRule& start) const {
    return rules_.linear_is_chosen ? *this : starting_with(start);
  }
  /// The place of the map to the logits.
  Scope of_head() const {
    Scope out = starting_with(rules_.head);
    out.of_head_ = true;
    return out;
  }
  /// The same place with the parameters of another, where a layer of the same kind has been made: they are used once
  /// more, and none is added. What is made here throws heed::Failed for a parameter that isn't there, or is of another
  /// shape.
  Scope sharing(const Scope& other) const;
  /// The same place in a stack that reads the outputs.
  Scope reading_outputs() const {
    Scope out = *this;
    out.reads_ = Reads::outputs;
    return out;
  }

  /// The weights of a linear map: [out, in]; for `fans` that its shape does not show, with these. Weight decay pulls
  /// them towards 0.
  ParameterId weight(const std::string& name, const Shape& shape) const {
    return weight(name, shape, Fans{.in = shape[-1], .out = shape[-2]});
  }
  ParameterId weight(const std::string& name, const Shape& shape, const Fans& fans,
                     WeightDecay decay = WeightDecay::yes) const {
    return add(name, shape, rules_.linear.weight(fans), decay, is_map(shape));
  }
  /// The same with a start of its own.
  ParameterId weight(const std::string& name, const Shape& shape, const Init& init) const {
    return add(name, shape, init, WeightDecay::yes, is_map(shape));
  }
  /// A linear map's biases: [out].
  ParameterId bias(const std::string& name, std::int64_t out, std::int64_t fan_in) const {
    return plain(name, {out}, rules_.linear.bias(fan_in));
  }
  /// Vectors of tokens, and those of positions: [..., count, width]. Weight decay pulls them, too.
  ParameterId embedding(const std::string& name, const Shape& shape) const {
    return add(name, shape, rules_.embedding.weight({.in = shape[-1], .out = shape[-2]}), WeightDecay::yes);
  }
  ParameterId position(const std::string& name, const Shape& shape) const {
    return add(name, shape, rules_.position.weight({.in = shape[-1], .out = shape[-2]}), WeightDecay::yes);
  }
  /// A parameter that weight decay leaves alone: a bias, a gain, a temperature, a vector that weighs features one by
  /// one; of all heads together, too.
  ParameterId plain(const std::string& name, const Shape& shape, const Init& init) const {
    return add(name, shape, init, WeightDecay::no);
  }
  /// Says which maps stand in a linear map's weights, by their rows.
  void set_parts(ParameterId weight, std::vector<std::int64_t> rows) const {
    parameters_->set_parts(weight, std::move(rows));
  }
  bool qkv_as_one() const { return rules_.qkv_as_one; }

  /// "blocks.0.attention"; empty for the whole model.
  std::string name() const { return prefix_.substr(0, prefix_.empty() ? 0 : prefix_.size() - 1); }
  Reads reads() const { return reads_; }

private:
  ParameterId add(const std::string& name, const Shape& shape, const Init& init, WeightDecay decay,
                  bool is_map = false) const;
  ParameterId shared(const std::string& name, const Shape& shape) const;
  bool is_map(const Shape& shape) const { return !of_head_ && shape.rank >= 2; }

  Parameters* parameters_;
  InitRules rules_;
  std::string prefix_;
  Reads reads_ = Reads::input;
  bool of_head_ = false;
  std::optional<std::string> shared_prefix_{}; // in the place of the prefix's first part
  std::size_t own_length_ = 0;                 // of that part
};

/// Which attention it is, for those who look on.
struct AttentionPlace {
  enum class Kind {
    self,    ///< of what the stack reads to itself
    cross,   ///< of a decoder to what its encoder read
    pooling, ///< of a query of its own to what the stack reads
  };
  std::string module; ///< the layer that it is: "blocks.0.attention"
  Kind kind = Kind::self;
  Reads reads = Reads::input; ///< the stack
};

/// Whoever looks into a pass, or takes something out of it. Modules are named by their scopes; one that is called
/// several times within a pass tells each time.
class Observer {
public:
  virtual ~Observer() = default;
  /// Are attention weights wanted? They are only there where somebody wants them: streaming kernels never hold them.
  virtual bool wants_weights() const { return false; }
  /// What an attention's values are summed with, before dropout: [B, H, Tq, Tk].
  virtual void weights(const AttentionPlace& attention, const Tensor& weights);
  /// Are scores wanted? They are computed once more for who wants them.
  virtual bool wants_scores() const { return false; }
  /// What an attention's normaliser is given: [B, H, queries, keys], -infinity where a query does not attend to a key.
  /// It may come in parts: some queries of one entry [1, H, some queries, keys], and no keys that none of these sees.
  virtual void scores(const AttentionPlace& attention, const Tensor& scores);
  /// What an attention's heads give: [B, H, Tq, Dv]. Without recording, the numbers may be changed.
  virtual void heads(const AttentionPlace& attention, const Tensor& heads);
  /// What a module gives.
  virtual void output(std::string_view module, const Tensor& output);
  /// What a Transformer's block gives, which `output` is told, too: [B, T, width].
  virtual void block(std::string_view module, const Tensor& output);
};

/// One forward pass over some rows of a batch: what layers need beside tensors.
class Pass {
public:
  struct Options {
    bool training = false;  ///< dropout acts, gradients are wanted
    std::uint64_t seed = 0; ///< with the step, decides dropout
    std::int64_t step = 0;
    std::int64_t first_row = 0; ///< of this pass within the batch, so that shards see the same randomness
    std::span<const std::int64_t>
        rows{};                   ///< for decoding: the number of each row; empty: `first_row` and those after it
    Observer* observer = nullptr; ///< who looks on; null: nobody
  };

  /// `gradients` has the layout of `parameters`, and may be null where none are wanted.
  Pass(Tape& tape, Parameters& parameters, Real* gradients, const Options& options);

  /// Some queries of one batch entry, and the first keys, of attention's whole [B, H, queries, keys].
  struct Part {
    std::int64_t entry, first_query, some_queries, some_keys, queries, keys;
  };
  /// What it takes to make a part of the pass, in the backward pass once more. The pass need not live until then;
  /// parameters must.
  struct State {
    Tape* tape;
    Parameters* parameters;
    Real* gradients;
    Options options;
    Tensor* leaves;
    std::uint64_t dropout_sites;
  };
  const State& state() const { return state_; }
  /// Goes on from that state with a part of attention. What is random there is what it would be in the whole; nobody
  /// looks on.
  Pass(const State& state, const Part& part);
  /// The parts of the pass went this far: what is random from here on is not what was random in them.
  void go_on_after(std::uint64_t dropout_sites) { state_.dropout_sites = dropout_sites; }

  Tape& tape() const { return *state_.tape; }
  bool training() const { return state_.options.training; }

  /// The leaf of a parameter; the same one throughout the pass.
  Tensor operator()(ParameterId id);

  /// Dropout of x, whose first axis is the batch's rows; x itself where it does not act.
  Tensor dropout(const Tensor& x, double probability);
  /// The randomness of another place in the pass, for numbers [rows of the batch, ...]. Where the pass is over a part
  /// of attention, they must be of its queries and keys, [1, H, some queries, some keys]; heed::Failed otherwise.
  struct DropoutPlace {
    RandomKey key;
    Numbering numbers;
  };
  DropoutPlace next_dropout(const Shape& shape);

  /// Sets the gradients to zero of all parameters that the backward pass did not reach.
  void finish_gradients();

  /// Does anybody look on?
  bool observed() const { return state_.options.observer; }
  /// For layers: does anybody want attention weights?
  bool wants_weights() const { return state_.options.observer && state_.options.observer->wants_weights(); }
  /// For layers: what they give to those who look on. Nothing happens where nobody does.
  void show_weights(const AttentionPlace& attention, const Tensor& weights) const {
    if (wants_weights()) state_.options.observer->weights(attention, weights);
  }
  bool wants_scores() const { return state_.options.observer && state_.options.observer->wants_scores(); }
  void show_scores(const AttentionPlace& attention, const Tensor& scores) const {
    if (wants_scores()) state_.options.observer->scores(attention, scores);
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
  /// The output of the module that the parameter is of; returns it.
  const Tensor& show(ParameterId id, const Tensor& output) const {
    if (state_.options.observer) show((*state_.parameters)[id].module, output);
    return output;
  }

private:
  State state_;
  std::optional<Part> part_;
};

} // namespace heed::HEED_REAL
