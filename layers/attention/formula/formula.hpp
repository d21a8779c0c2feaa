// Attention as a formula: the language of `attention.score_mod` and `attention.mask_mod`.
//
//   30 * tanh(s / 30) - slope * abs(i - j)        a score
//   j <= i and (i - j < 256 or j < 4)             a mask
//
// A formula is read into a list of nodes, each after those that it is made of and none twice. `evaluate` computes one
// pair in plain loops; `program_of` (program.hpp) makes of it what the kernels run tile by tile.
#pragma once

#include "autograd/formula_program.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A number that formulas use by its name, fixed or learned: [attention.parameters.NAME].
struct FormulaParameter {
  std::string name;
  std::string per = "one"; ///< one | head | distance | head_and_distance
  std::string start = "0"; ///< a formula of h, heads, width and, by distance, of i - j; of a list, of n
  bool learned = true;
  std::int64_t size = 0;     ///< where it is a list: how many numbers; 0: it is one number
  std::int64_t furthest = 0; ///< by distance: the greatest that has a number of its own; 0: the longest row's

  bool by_head() const { return per == "head" || per == "head_and_distance"; }
  bool by_distance() const { return per == "distance" || per == "head_and_distance"; }
  bool operator==(const FormulaParameter&) const = default;
};

/// A parameter as one line, and back: "slope: per = head, learned = true, size = 0, furthest = 0, start = 1 / heads". A
/// line that is none gives nothing.
std::string text_of(const FormulaParameter& parameter);
std::optional<FormulaParameter> formula_parameter(std::string_view line);
std::vector<FormulaParameter> formula_parameters(const std::vector<std::string>& lines);

/// An operation of the text. `less` and so on as in FormulaOp; `i` and `j` are told apart here.
enum class FormulaName : std::uint8_t { none, s, i, j, b, h, heads, width, queries, keys, n };
struct FormulaNode {
  FormulaOp op{};
  FormulaName name = FormulaName::none; ///< where it is a name: op is then `score`, whatever the name
  std::int32_t a = -1, b = -1, c = -1;
  std::int32_t parameter = -1; ///< its place among those given
  double number = 0;
  bool truth = false; ///< is it true or false, rather than a number?

  bool operator==(const FormulaNode&) const = default;
};

/// The last node is the formula's value.
struct Formula {
  std::vector<FormulaNode> nodes;
};

/// What is wrong with a formula's text, and the column, counted from 0 in bytes, where that is.
struct FormulaMistake {
  std::size_t column = 0;
  std::string what;

  /// `what`, and below it the text with a caret under the column.
  std::string shown(std::string_view text) const;
};

enum class FormulaKind { score, mask, start };

/// A formula, or a mistake.
struct ReadFormula {
  std::optional<Formula> formula;
  FormulaMistake mistake;
};

/// Reads a formula of a kind, which says what names there are, and whether it is a number or a truth. `own`: of a start,
/// the parameter that it is for; null for others.
ReadFormula read_formula(std::string_view text, FormulaKind kind, std::span<const FormulaParameter> parameters,
                         const FormulaParameter* own = nullptr);

/// Is it a name that a parameter may have: a letter, then letters, digits and _, and no word of the language?
bool is_parameter_name(std::string_view name);
/// Has the operation a slope by its operands? Comparisons, floor and what is of truths have none.
bool has_gradient(FormulaOp op);
/// What a formula names.
struct FormulaUse {
  bool score = false;                   ///< s
  bool anything = false;                ///< anything that is no number
  std::vector<std::int32_t> parameters; ///< by their places
  std::vector<std::int32_t>
      with_gradient; ///< those by which the value has one: none through comparisons, floor, places
};
FormulaUse use_of(const Formula& formula);
/// What is wrong with a parameter's options, as a sentence; empty where nothing is.
std::string wrong_parameter(const FormulaParameter& parameter);

/// What the names stand for, for one pair. `parameters`: of each parameter the numbers of the pair's head.
struct FormulaPair {
  double s = 0, i = 0, j = 0, b = 0, h = 0, heads = 1, width = 1, queries = 1, keys = 1, n = 0;
  std::vector<std::span<const double>> parameters{};
};
/// The formula's value for a pair, a truth as 1 or 0: plain loops, for tests and for starts.
double evaluate(const Formula& formula, const FormulaPair& pair);

/// A parameter's first numbers, [heads or 1][numbers]: those of a list in order; those of distances -n to n, where n is
/// `furthest`, or `longest` - 1 if that is 0. Throws heed::Failed where neither says how many.
std::vector<double> starting_numbers(const FormulaParameter& parameter, std::int64_t heads, std::int64_t width,
                                     std::int64_t longest);
std::int64_t numbers_of_each(const FormulaParameter& parameter, std::int64_t longest);

} // namespace heed
