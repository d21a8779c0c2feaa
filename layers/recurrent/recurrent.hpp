// Recurrent layers: stacked, in one direction or both, over whole sequences or step by step.
#pragma once

#include "layers/linear.hpp"
#include "layers/recurrent/cell.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// The states of all layers, the lowest first; in two directions, each layer's forward one and then its backward one.
/// They stand in the tape's arena.
using RecurrentStates = std::span<const RecurrentState>;

/// Layers of one kind of cell on top of each other, as torch.nn.RNN, GRU and LSTM:
///   h_t = cell(W_x x_t + b, h_{t-1})
/// W_x and b are named `layers.0.forward.input`, the cell's own parameters `layers.0.forward.recurrent`, and so on;
/// weights start uniformly within 1 / sqrt(width), biases at zero.
class Recurrent {
public:
  struct Shape {
    std::int64_t input_width = 0;
    std::int64_t width = 0; ///< of the state (H)
    std::int64_t layers = 1;
    bool both_directions = false; ///< a second cell reads from the last step to the first
    bool bias = true;             ///< of the inputs' projections
    double dropout = 0;           ///< of what one layer hands to the next, in training
  };

  /// cell: a registered name; options: of its own table. Throws heed::Failed for an unknown cell, and for a shape
  /// without a layer or a width.
  Recurrent(const Scope& scope, const std::string& cell, const OptionValues& options, const Shape& shape);

  struct Result {
    Tensor states;        ///< [B, T, output_width()]: the top layer's; beyond a row's length, what was carried over
    RecurrentStates last; ///< after each row's last step
  };
  /// x [B, T, input_width]. `lengths` ([B], may be null): steps at and beyond a row's length are padding, which changes
  /// neither its states nor any gradient. `before`: the states that the layers start from; zeros if empty.
  Result operator()(Pass& pass, const Tensor& x, const std::int32_t* lengths = nullptr,
                    RecurrentStates before = {}) const;

  /// Zeros for every layer and direction: where a sequence starts.
  RecurrentStates start(Pass& pass, std::int64_t rows) const;

  struct Step {
    Tensor output;         ///< [B, width]: the top layer's state
    RecurrentStates state; ///< what the next step starts from
  };
  /// One step of each layer: x [B, input_width]. `steps` says for which rows it is not (its `reverse` has no meaning).
  /// Throws heed::Failed for a layer of two directions, which must see the end before it begins.
  Step step(Pass& pass, const Tensor& x, RecurrentStates before, const RecurrentSteps& steps = {}) const;

  std::int64_t output_width() const { return directions() * shape_.width; }
  const RecurrentCellInfo& cell() const { return *info_; }

private:
  struct Part {
    Linear input;
    std::unique_ptr<RecurrentCell> cell;
  };

  std::int64_t directions() const { return shape_.both_directions ? 2 : 1; }
  void check_states(const Op& op, RecurrentStates states) const;

  std::string name_;
  const RecurrentCellInfo* info_;
  Shape shape_;
  std::vector<Part> parts_; // as RecurrentStates are ordered
};

} // namespace heed::HEED_REAL
