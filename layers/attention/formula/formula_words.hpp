// The words of formulas: functions and names. Only the reader includes this file.
#pragma once

#include "layers/attention/formula/formula.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace heed::formula_words {

struct Function {
  std::string_view name;
  FormulaOp op;
  int least, most; // arguments
};
// The functions in the list of operations, and clamp(x, low, high) = min(max(x, low), high).
inline constexpr auto functions = [] {
  constexpr auto named = [](const FormulaOperation& operation) { return !operation.function.empty(); };
  std::array<Function, 1 + std::ranges::count_if(formula_operation_list, named)> out{
      Function{"clamp", FormulaOp::min, 3, 3}};
  std::size_t n = 1;
  for (const FormulaOperation& o : formula_operation_list)
    if (named(o)) out[n++] = {o.function, o.op, o.operands, o.most};
  return out;
}();

struct Name {
  std::string_view word;
  FormulaName name;
};
inline constexpr std::array names = {
    Name{"s", FormulaName::s},
    Name{"i", FormulaName::i},
    Name{"j", FormulaName::j},
    Name{"b", FormulaName::b},
    Name{"h", FormulaName::h},
    Name{"heads", FormulaName::heads},
    Name{"width", FormulaName::width},
    Name{"queries", FormulaName::queries},
    Name{"keys", FormulaName::keys},
    Name{"seen", FormulaName::seen},
    Name{"layer", FormulaName::layer},
    Name{"segment_i", FormulaName::segment_i},
    Name{"segment_j", FormulaName::segment_j},
    Name{"row_i", FormulaName::row_i},
    Name{"column_i", FormulaName::column_i},
    Name{"row_j", FormulaName::row_j},
    Name{"column_j", FormulaName::column_j},
    Name{"n", FormulaName::n},
};

// Why the name does not exist in scores and masks at this site; empty: it does.
inline std::string_view missing(FormulaName name, const FormulaSite& site) {
  switch (name) {
    case FormulaName::segment_i:
    case FormulaName::segment_j: return site.segments;
    case FormulaName::row_i:
    case FormulaName::column_i:
    case FormulaName::row_j:
    case FormulaName::column_j: return site.patches;
    case FormulaName::queries: return site.queries;
    default: return {};
  }
}

} // namespace heed::formula_words
