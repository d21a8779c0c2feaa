// The language of `attention.score_mod` and `attention.mask_mod`: attention as a formula. Parser, plain evaluator, and
// the parameters of formulas.
//
//   30 * tanh(s / 30) - slope * abs(i - j)        a score
//   j <= i and (i - j < 256 or j < 4)             a mask
//
// The parser turns a formula into a list of nodes. Each node comes after its operands, and equal nodes occur once.
// `evaluate` computes one pair in plain loops; `program_of` (program.hpp) compiles the nodes for the kernels, which run
// tile by tile.
#pragma once

#include "autograd/formula_program.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A parameter that formulas use by name, fixed or learned: [attention.parameters.NAME].
struct FormulaParameter {
  std::string name;
  std::string per = "one"; ///< one | head | distance | head_and_distance | position | head_and_position
  /// initial value: a formula of h, heads, width; by distance also of i - j; of a list or by position also of n
  std::string start = "0";
  bool learned = true;
  std::int64_t size = 0; ///< for a list: its length; 0: not a list
  /// by distance or position: the greatest one with a value of its own; 0: the longest sequence's
  std::int64_t furthest = 0;

  bool by_head() const { return per == "head" || per == "head_and_distance" || per == "head_and_position"; }
  bool by_distance() const { return per == "distance" || per == "head_and_distance"; }
  bool by_position() const { return per == "position" || per == "head_and_position"; }
  /// Is it used with an index, as NAME[x]?
  bool is_list() const { return size > 0 || by_position(); }
  bool operator==(const FormulaParameter&) const = default;
};

/// Converts a parameter to one line and back: "slope: per = head, learned = true, size = 0, furthest = 0, start = 1 /
/// heads". A line in another format gives nothing.
std::string text_of(const FormulaParameter& parameter);
std::optional<FormulaParameter> formula_parameter(std::string_view line);
std::vector<FormulaParameter> formula_parameters(const std::vector<std::string>& lines);

/// A node of the parsed formula. `less` and so on are as in FormulaOp; `i` and `j` are separate names here.
enum class FormulaName : std::uint8_t {
  none,
  s,
  i,
  j,
  b,
  h,
  heads,
  width,
  queries,
  keys,
  seen,
  layer,
  segment_i,
  segment_j,
  row_i,
  column_i,
  row_j,
  column_j,
  n
};
struct FormulaNode {
  FormulaOp op{};
  FormulaName name = FormulaName::none; ///< for a name; op is then `score`, whatever the name
  std::int32_t a = -1, b = -1, c = -1;
  std::int32_t parameter = -1; ///< index among the given parameters
  double number = 0;
  bool truth = false; ///< is the node Boolean instead of a number?

  bool operator==(const FormulaNode&) const = default;
};

/// A parsed formula. The last node is its value.
struct Formula {
  std::vector<FormulaNode> nodes;
};

/// A mistake in a formula's text, and its column, counted from 0 in bytes.
struct FormulaMistake {
  std::size_t column = 0;
  std::string what;

  /// `what`, and below it the text with a caret under the column.
  std::string shown(std::string_view text) const;
};

enum class FormulaKind { score, mask, start };

/// Where a score or a mask is used, which decides about some names. Each member says why its names do not exist there,
/// as the end of a sentence about the name; empty: they exist.
struct FormulaSite {
  std::string segments{}; ///< segment_i, segment_j
  std::string patches{};  ///< row_i, column_i, row_j, column_j
  std::string queries{};  ///< queries
};

/// The result of parsing: a formula, or a mistake.
struct ReadFormula {
  std::optional<Formula> formula;
  FormulaMistake mistake;
};

/// Parses a formula. The kind decides which names exist, and whether the formula is a number or Boolean. `own`: for a
/// start formula, the parameter that it initialises; null for other kinds.
ReadFormula read_formula(std::string_view text, FormulaKind kind, std::span<const FormulaParameter> parameters,
                         const FormulaParameter* own = nullptr, const FormulaSite& site = {});

/// Is this a valid parameter name: a letter, then letters, digits and _, and no word of the language?
bool is_parameter_name(std::string_view name);
/// Does the operation have a gradient for its operands? Comparisons, floor and Boolean operations have none.
bool has_gradient(FormulaOp op);
/// The names that a formula uses.
struct FormulaUse {
  bool score = false;    ///< s
  bool anything = false; ///< any name or parameter (not only numbers)
  bool segments = false; ///< segment_i or segment_j
  /// names or parameters that depend on where a query or a key is in its sequence, or on the sequence
  bool positions = false;
  std::vector<std::int32_t> parameters; ///< indices
  /// those through which gradients flow: none through comparisons, floor or indices
  std::vector<std::int32_t> with_gradient;
};
FormulaUse use_of(const Formula& formula);
/// The same with the parameters of the formula, without which `positions` knows nothing of those by distance.
FormulaUse use_of(const Formula& formula, std::span<const FormulaParameter> parameters);
/// What the formula `text` uses; nothing if the text is empty or has a mistake.
FormulaUse use_of(const std::string& text, FormulaKind kind, const std::vector<FormulaParameter>& parameters);
/// The mistake in a parameter's options, as a sentence; empty if there is none.
std::string wrong_parameter(const FormulaParameter& parameter);

/// The values of the names for one pair. `parameters`: each parameter's values for the pair's head.
struct FormulaPair {
  double s = 0, i = 0, j = 0, b = 0, h = 0, heads = 1, width = 1, queries = 1, keys = 1, seen = 1, n = 0;
  double layer = 0, segment_i = 0, segment_j = 0, row_i = 0, column_i = 0, row_j = 0, column_j = 0;
  std::vector<std::span<const double>> parameters{};
};
/// The formula's value for a pair (true is 1, false is 0), in plain loops, for tests and initial values.
double evaluate(const Formula& formula, const FormulaPair& pair);

/// A parameter's initial values, [heads or 1][values]. A list's values are in order. Values by distance are for
/// distances -n to n, and values by position for 0 to n, where n is `furthest`, or `longest` - 1 if `furthest` is 0.
/// Throws heed::Failed if neither gives the number.
std::vector<double> starting_numbers(const FormulaParameter& parameter, std::int64_t heads, std::int64_t width,
                                     std::int64_t longest);
std::int64_t numbers_of_each(const FormulaParameter& parameter, std::int64_t longest);

} // namespace heed
