// Fuzz target: the text of a formula, read as a score, as a mask and as the start of a parameter. The reader either
// refuses it with a position within the text, or gives a formula that compiles to a program and has a value for every
// pair.
#include "layers/attention/formula/formula.hpp"
#include "layers/attention/formula/program.hpp"
#include "tests/fuzz/target.hpp"

#include <cmath>

using namespace heed;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text(data, size));
  const std::vector<FormulaParameter> parameters = {{.name = "slope", .per = "head"},
                                                    {.name = "bias", .per = "head_and_distance", .furthest = 2},
                                                    {.name = "list", .start = text, .learned = false, .size = 3}};
  const std::vector<double> one = {0.5}, five = {1, 2, 3, 4, 5}, three = {6, 7, 8};
  for (const FormulaKind kind : {FormulaKind::score, FormulaKind::mask, FormulaKind::start}) {
    const ReadFormula read = read_formula(text, kind, parameters, &parameters[2]);
    if (!read.formula) {
      require(read.mistake.column <= text.size() && !read.mistake.what.empty(), "a mistake is nowhere, or is none");
      read.mistake.shown(text);
      continue;
    }
    const bool is_mask = kind == FormulaKind::mask;
    for (const double at : {0.0, 3.0, -1.5}) {
      const double value = evaluate(*read.formula, {.s = at, .i = at, .j = 1, .parameters = {one, five, three}});
      require(!is_mask || value == 0 || value == 1, "a truth is another number");
    }
    if (kind == FormulaKind::start) continue;
    const FormulaProgram program = program_of(is_mask ? nullptr : &*read.formula, is_mask ? &*read.formula : nullptr,
                                              parameters);
    require((is_mask ? program.mask : program.score) >= 0, "there is no program");
    for (std::size_t k = 0; k < program.instructions.size(); ++k)
      for (const std::int32_t operand :
           {program.instructions[k].a, program.instructions[k].b, program.instructions[k].c})
        require(operand < static_cast<std::int32_t>(k), "an operand stands behind what takes it");
    const FormulaUse use = use_of(*read.formula);
    require(use.with_gradient.size() <= use.parameters.size(), "a slope by what is not named");
  }
  const FormulaParameter& list = parameters[2];
  require(formula_parameter(text_of(list)) == list, "a parameter's line reads as something else");
  if (!wrong_parameter(list).empty()) return 0;
  try {
    for (const double number : starting_numbers(list, 2, 4, 8)) require(std::isfinite(number), "a start is no number");
  } catch (const Failed&) { // a start may have no finite value and throw Failed
  }
  return 0;
}
