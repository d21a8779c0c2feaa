// What every layer is made of: parameters by name, and the pass in which it is called.
//
// A layer is a plain struct. Its constructor takes a Scope, which names and adds its parameters; its call operator takes
// a Pass and tensors.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/parameters.hpp"

#include <string>
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

private:
  Parameters* parameters_;
  Init init_;
  std::string prefix_;
};

/// One forward pass over some rows of a batch: what layers need beside tensors.
class Pass {
public:
  struct Options {
    bool training = false;         ///< dropout acts, gradients are wanted
    std::uint64_t seed = 0;        ///< with the step, decides dropout
    std::int64_t step = 0;
    std::int64_t first_row = 0;    ///< of this pass within the batch, so that shards see the same randomness
    bool keep_weights = false;     ///< layers give their attention weights to `attention_weights`
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
  bool keeps_weights() const { return options_.keep_weights; }

private:
  Tape* tape_;
  Parameters* parameters_;
  Real* gradients_;
  Options options_;
  Tensor* leaves_;
  std::uint64_t dropout_sites_ = 0;
};

} // namespace heed::HEED_REAL
