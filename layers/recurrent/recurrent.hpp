// Stacked recurrent layers, in one or both directions, over whole sequences or step by step.
#pragma once

#include "layers/linear.hpp"
#include "layers/recurrent/cell.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// The states of all layers, from the lowest to the top. With two directions, each layer's forward state comes before
/// its backward state. The states are in the tape's arena.
using RecurrentStates = std::span<const RecurrentState>;

/// Stacked layers of one kind of cell, like torch.nn.RNN, GRU and LSTM:
///   h_t = cell(W_x x_t + b, h_{t-1})
/// W_x and b are named `layers.0.forward.input`, the cell's own parameters `layers.0.forward.recurrent`, and so on.
/// Weights start uniformly within 1 / sqrt(width), biases at zero.
class Recurrent {
public:
  struct Sizes {
    std::int64_t input_width = 0;
    std::int64_t width = 0; ///< width of the state (H)
    std::int64_t layers = 1;
    bool both_directions = false; ///< a second cell reads from the last step to the first
    bool bias = true;             ///< of the projections of the inputs
    double dropout = 0;           ///< on the input of every layer but the first, in training
  };

  /// cell: a registered name; options: the values of its own table. Throws heed::Failed for an unknown cell, and for a
  /// sizes without layers or width.
  Recurrent(const Scope& scope, const std::string& cell, const OptionValues& options, const Sizes& sizes);

  struct Result {
    Tensor states; ///< [B, T, output_width()]: the top layer's states; padding steps carry the state over unchanged
    RecurrentStates last; ///< after each sequence's last step
  };
  /// x [B, T, input_width]. `lengths` ([B], may be null): steps at and beyond a sequence's length are padding, which
  /// affects neither its states nor any gradient. `before`: the initial states of the layers; zeros if empty.
  Result operator()(Pass& pass, const Tensor& x, const std::int32_t* lengths = nullptr,
                    RecurrentStates before = {}) const;

  /// Zeros for every layer and direction: the initial states.
  RecurrentStates start(Pass& pass, std::int64_t sequences) const;

  struct Step {
    Tensor output;         ///< [B, width]: the top layer's state
    RecurrentStates state; ///< the initial state of the next step
  };
  /// One step of each layer: x [B, input_width]. `steps` says for which sequences the step is padding (its `reverse` is
  /// ignored). Throws heed::Failed for layers of two directions, which need the whole sequence.
  Step step(Pass& pass, const Tensor& x, RecurrentStates before, const RecurrentSteps& steps = {}) const;

  std::int64_t output_width() const { return directions() * sizes_.width; }
  const RecurrentCellInfo& cell() const { return *info_; }

private:
  struct Part {
    Linear input;
    std::unique_ptr<RecurrentCell> cell;
  };

  std::int64_t directions() const { return sizes_.both_directions ? 2 : 1; }
  void check_states(const Op& op, RecurrentStates states) const;

  std::string name_;
  const RecurrentCellInfo* info_;
  Sizes sizes_;
  std::vector<Part> parts_; // in the order of RecurrentStates
};

} // namespace heed::HEED_REAL
