// Compiles parsed formulas into the programs that the kernels run.
#pragma once

#include "layers/attention/formula/formula.hpp"

namespace heed {

/// The axis that a formula's value depends on. Linear expressions in i and j are simplified, so that i - j - 4 < 0 and
/// j <= i depend only on the distance.
FormulaAxis axis_of(const Formula& formula);

/// The place of a program in a model, whose numbers are its constants.
struct FormulaPlace {
  std::int64_t layer = 0;          ///< the index of the block in its stack
  std::int64_t patches_in_row = 0; ///< the number of patches in a row of an image; 0: there are no patches
};

/// The program of a score formula, of a mask formula, or of both (null: none). An expression that does not depend on
/// the pair is computed once on its own axis. A division by such an expression becomes a product with its reciprocal. A
/// power with a small integer exponent becomes products.
FormulaProgram program_of(const Formula* score, const Formula* mask, std::span<const FormulaParameter> parameters,
                          const FormulaPlace& place = {});

} // namespace heed
