// From a formula's text to what the kernels run.
#pragma once

#include "layers/attention/formula/formula.hpp"

namespace heed {

/// What a formula's value varies with. Parts that are linear in i and j are seen through, so that i - j - 4 < 0 and
/// j <= i vary with the distance alone.
FormulaAxis axis_of(const Formula& formula);

/// The program of a score, of a mask, or of both (null: none). What varies with less than pairs is worked out on its own
/// axis; a division by such a number is a product with its reciprocal; a power with a small whole exponent is products.
FormulaProgram program_of(const Formula* score, const Formula* mask, std::span<const FormulaParameter> parameters);

} // namespace heed
