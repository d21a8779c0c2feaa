// A formula for scores or for a mask as a list of operations, ready for the kernels (layers/attention/formula makes it).
#pragma once

#include <cstdint>
#include <vector>

namespace heed {

/// What a value varies with; it is worked out once for all else. `distance` is that of a key from its query, j - i.
enum class FormulaAxis : std::uint8_t { head, row, column, distance, pair };

enum class FormulaOp : std::uint8_t {
  number,      ///< `number`
  score,       ///< s
  position,    ///< of the axis: the query's on rows, the key's on columns, j - i on distances
  batch,       ///< b
  head,        ///< h
  heads,       ///< how many there are
  width,       ///< of a head's queries
  queries,     ///< how many there are, with those of earlier steps
  keys,        ///< how many the row has, padding left out
  parameter,   ///< a parameter's number for this head
  by_distance, ///< a parameter's number for this head and distance; beyond the furthest, that one's
  element,     ///< of a parameter's list for this head: the one whose number `a` is, rounded down, ends for beyond
  negative,    ///< of one operand, a, from here on
  reciprocal,
  abs,
  exp,
  log,
  sqrt,
  tanh,
  sigmoid,
  relu,
  floor,
  sin,
  cos,
  negation, ///< of a truth
  add,      ///< of two, a and b
  subtract,
  multiply,
  divide,
  power,
  remainder, ///< a - b floor(a / b)
  min,
  max,
  less, ///< truths are 1 and 0
  less_equal,
  equal,
  unequal,
  conjunction,
  disjunction,
  choice ///< of three: b where a is true, c elsewhere
};

/// One operation; its operands are numbers of instructions before it.
struct FormulaInstruction {
  FormulaOp op{};
  FormulaAxis axis = FormulaAxis::head; ///< what its value varies with
  std::int32_t a = -1, b = -1, c = -1;
  std::int32_t parameter = -1;
  std::int32_t factor = -1; ///< of one operand: a times this head's number is what it is of; -1: a
  double number = 0;
  bool differentiable = false; ///< does it depend on s or on a parameter that is learned, smoothly?
  bool for_mask = false;       ///< does the mask need it?
  bool for_score = false;      ///< does the score?

  bool operator==(const FormulaInstruction&) const = default;
};

/// Every operand varies with nothing, or with what its instruction varies with; one of a pair may vary with anything.
struct FormulaProgram {
  std::vector<FormulaInstruction> instructions;
  std::int32_t score = -1;  ///< the instruction that is the score; -1: it stays as it is
  std::int32_t factor = -1; ///< the score is that times this head's number; -1: as it is
  std::int32_t mask = -1;   ///< the one that says whether a query may attend to a key; -1: all may
  bool by_head = false;     ///< does anything vary with the head or the batch entry?
  bool mask_by_head = false;
};

} // namespace heed
