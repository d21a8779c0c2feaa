// What every layer is made of: parameters by name, and the pass in which it is called.
//
// A layer is a plain struct. Its constructor takes a Scope, which names and adds its parameters; its call operator takes
// a Pass and tensors.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/parameters.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace heed::HEED_REAL {

/// Where in a model a layer stands: a prefix for the names of its parameters, and how weights start.
class Scope {
public:
  /// `weight_init` is what weight matrices start with where the layer does not say otherwise.
  Scope(Parameters& parameters, const Init& weight_init, std::string prefix = "")
      : parameters_(&parameters), init_(weight_init), prefix_(std::move(prefix)) {}

  /// The scope of a part: "blocks" / "0" / "attention" names "blocks.0.attention.".
  Scope operator/(const std::string& part) const { return {*parameters_, init_, prefix_ + part + "."}; }
  /// The same place with another start for weights.
  Scope starting_with(const Init& init) const { return {*parameters_, init, prefix_}; }

  ParameterId add(const std::string& name, const Shape& shape, const Init& init) const {
    return parameters_->add(prefix_ + name, shape, init);
  }
  ParameterId weight(const std::string& name, const Shape& shape) const { return add(name, shape, init_); }

  /// "blocks.0.attention"; empty for the whole model.
  std::string name() const { return prefix_.substr(0, prefix_.empty() ? 0 : prefix_.size() - 1); }

private:
  Parameters* parameters_;
  Init init_;
  std::string prefix_;
};

/// Whoever looks into a pass, or takes something out of it. Layers say who they are by their scope's name; a layer that
/// is called several times within a pass tells each time.
class Observer {
public:
  virtual ~Observer() = default;
  /// Are attention weights wanted? They are only there where somebody wants them: streaming kernels never hold them.
  virtual bool wants_weights() const { return false; }
  /// What an attention's values are summed with, before dropout: [B, H, Tq, Tk].
  virtual void weights(std::string_view attention, const Tensor& weights);
  /// What an attention's heads give: [B, H, Tq, Dv]. Without recording, the numbers may be changed.
  virtual void heads(std::string_view attention, const Tensor& heads);
  /// What a module gives; the module of a parameter is the parameter's name without its last part.
  virtual void output(std::string_view module, const Tensor& output);
};

/// The module that a parameter is of: "blocks.0.ffn.expand" of "blocks.0.ffn.expand.weight".
inline std::string_view owner_of(std::string_view parameter) {
  return parameter.substr(0, std::min(parameter.rfind('.'), parameter.size()));
}

/// One forward pass over some rows of a batch: what layers need beside tensors.
class Pass {
public:
  struct Options {
    bool training = false;         ///< dropout acts, gradients are wanted
    std::uint64_t seed = 0;        ///< with the step, decides dropout
    std::int64_t step = 0;
    std::int64_t first_row = 0;    ///< of this pass within the batch, so that shards see the same randomness
    bool keep_weights = false;     ///< layers give their attention weights to `attention_weights`
    Observer* observer = nullptr;  ///< who looks on; null: nobody
  };

  /// `gradients` has the layout of `parameters`, and may be null where none are wanted.
  Pass(Tape& tape, Parameters& parameters, Real* gradients, const Options& options);

  Tape& tape() const { return *tape_; }
  bool training() const { return options_.training; }

  /// The leaf of a parameter; the same one throughout the pass.
  Tensor operator()(ParameterId id);

  /// Dropout of x, whose first axis is the batch's rows; x itself where it does not act.
  Tensor dropout(const Tensor& x, double probability);
  /// For kernels that drop out by themselves: the randomness of a place whose rows have `row` elements each.
  struct DropoutPlace {
    RandomKey key;
    std::uint64_t first;
  };
  DropoutPlace next_dropout(std::int64_t row);

  /// Sets the gradients to zero of all parameters that the backward pass did not reach.
  void finish_gradients();

  /// What layers kept, in the order of their calls: [B, H, Tq, Tk] each.
  std::vector<Tensor> attention_weights;
  bool keeps_weights() const {
    return options_.keep_weights || (options_.observer && options_.observer->wants_weights());
  }

  /// For layers: what they give to those who look on. Nothing happens where nobody does.
  void keep(const std::string& attention, const Tensor& weights);
  void show_heads(const std::string& attention, const Tensor& heads) const {
    if (options_.observer) options_.observer->heads(attention, heads);
  }
  void show(std::string_view module, const Tensor& output) const {
    if (options_.observer) options_.observer->output(module, output);
  }
  /// The output of the module that the parameter is of; returns it.
  const Tensor& show(ParameterId id, const Tensor& output) const {
    if (options_.observer) show(owner_of((*parameters_)[id].name), output);
    return output;
  }

private:
  Tape* tape_;
  Parameters* parameters_;
  Real* gradients_;
  Options options_;
  Tensor* leaves_;
  std::uint64_t dropout_sites_ = 0;
};

} // namespace heed::HEED_REAL
