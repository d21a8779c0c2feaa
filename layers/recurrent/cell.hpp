// Recurrent cells: what one step makes of an input and a state. One file each in cells/, registered like scores.
#pragma once

#include "autograd/recurrent.hpp"
#include "layers/module.hpp"
#include "options/variant.hpp"

#include <memory>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// What a cell hands from one step to the next.
struct RecurrentState {
  Tensor h; ///< [B, H]
  Tensor c; ///< [B, H]: the memory of a cell that has one; empty otherwise
};

/// A cell with its recurrent parameters; the projection of the inputs is the layer's.
class RecurrentCell {
public:
  virtual ~RecurrentCell() = default;
  /// x [T, B, gates H], projected, from the given state on.
  virtual Recurrence operator()(Pass& pass, const Tensor& x, const RecurrentState& before,
                                const RecurrentSteps& steps) const = 0;
};

/// One step of one row in plain loops, written without the engine: what tests compare the computation with.
/// `parameters` are the cell's own, in the order in which it added them. h and c [width] are overwritten.
struct CellArguments {
  const Real* x; ///< [gates width]
  Real *h, *c;
  std::int64_t width;
  std::vector<const Real*> parameters;
};

struct RecurrentCellInfo {
  Variant about;
  std::int64_t gates; ///< projected inputs for each entry of the state
  bool has_memory;    ///< has its state a part c?
  /// Adds its parameters to the scope, whose weights start as the scope says.
  std::unique_ptr<RecurrentCell> (*make)(const Scope& scope, std::int64_t width, const OptionValues& options);
  void (*step)(const CellArguments& arguments);
};

/// All registered cells, in Meson's order (generated).
std::span<const RecurrentCellInfo* const> recurrent_cells();
/// The cell of that name; heed::Failed lists the names if there is none.
const RecurrentCellInfo& recurrent_cell_info(const std::string& name);

} // namespace heed::HEED_REAL
