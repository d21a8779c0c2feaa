// The interface of recurrent cells, which compute the next state from an input and a state. Each cell is one file in
// cells/, registered like scores.
#pragma once

#include "autograd/recurrent.hpp"
#include "layers/module.hpp"
#include "options/variant.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// The state that a cell passes from one step to the next.
struct RecurrentState {
  Tensor h; ///< [B, H]
  Tensor c; ///< [B, H]: the cell state of an LSTM; empty for other cells
};

/// A cell with its recurrent parameters. The projection of the inputs belongs to the layer.
class RecurrentCell {
public:
  virtual ~RecurrentCell() = default;
  /// x: projected inputs, [T, B, gates * H]. The recurrence starts from the state `before`.
  virtual Recurrence operator()(Pass& pass, const Tensor& x, const RecurrentState& before,
                                const RecurrentSteps& steps) const = 0;
};

/// The arguments of `step`: one step of one sequence in plain loops, without the engine, as the tests' reference.
/// `parameters` are the cell's own, in the order in which it added them. h and c, [width], are overwritten.
struct CellArguments {
  const Real* x; ///< [gates * width]
  Real *h, *c;
  std::int64_t width;
  std::vector<const Real*> parameters;
};

struct RecurrentCellInfo {
  Variant about;
  std::int64_t gates; ///< number of projected inputs per entry of the state
  bool has_memory;    ///< does its state have a part c?
  /// Adds the cell's parameters to the scope. Weights start by the scope's rule.
  std::unique_ptr<RecurrentCell> (*make)(const Scope& scope, std::int64_t width, const OptionValues& options);
  void (*step)(const CellArguments& arguments);
};

/// All registered cells, in Meson's order (generated).
std::span<const RecurrentCellInfo* const> recurrent_cells();
/// The cell with this name. Throws heed::Failed, which lists all names, if there is none.
const RecurrentCellInfo& recurrent_cell_info(const std::string& name);

} // namespace heed::HEED_REAL
