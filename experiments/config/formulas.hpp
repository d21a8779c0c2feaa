// Attention formulas in a configuration: the tables [attention.parameters.NAME], whose names the user chooses, and the
// checks of formulas and parameters.
#pragma once

#include "experiments/config/settings.hpp"
#include "layers/layer_options.hpp"

namespace heed {

/// The option that stores all parameters of a resolved configuration as lines, and the prefix of the parameters'
/// tables.
inline constexpr std::string_view formula_parameters_key = "attention.parameters",
                                  formula_parameters_prefix = "attention.parameters.";

/// The option whose text ends a segment. It has an effect if a formula uses segments, and is then given.
inline constexpr std::string_view segment_end_key = "model.segment_end";

/// The table that describes any parameter's table: [attention.parameters.NAME].
const TableInfo& parameter_table();
/// True for the table of a parameter, such as "attention.parameters.slope", whose name is a valid parameter name.
bool is_parameter_table(std::string_view table);
/// The option with a key such as "attention.parameters.slope.start"; null if there is none.
const Option* parameter_option(std::string_view key);
/// The error message for an invalid parameter name, such as "attention.parameters.tanh".
std::string wrong_parameter_name(std::string_view table);

/// The settings of parameters, by full name.
using ParameterSettings = std::map<std::string, Setting>;
/// The formulas of a block that have an effect; empty: there is none.
struct FormulaTexts {
  std::string score_mod, mask_mod, cross_score_mod, cross_mask_mod;

  bool none() const {
    return score_mod.empty() && mask_mod.empty() && cross_score_mod.empty() && cross_mask_mod.empty();
  }
};
/// The value of `attention.parameters` for these formulas: one line per parameter that the formulas name, in order of
/// names.
std::vector<std::string> parameter_lines(const ParameterSettings& set, const FormulaTexts& texts);
/// True if the formulas name the parameter to which the key belongs.
bool formulas_name(std::string_view key, const ParameterSettings& set, const FormulaTexts& texts);
/// True if a formula uses segment_i or segment_j. A formula that cannot be parsed may use them.
bool formulas_use_segments(const ParameterSettings& set, const FormulaTexts& texts);

/// What decides, beside the formulas themselves, whether they are right.
struct FormulaContext {
  bool causal = false;     ///< of self attention
  std::string model;       ///< model.kind
  std::string segment_end; ///< model.segment_end
};
/// An error in a formula or a parameter: the option's key, and a sentence.
struct FormulaProblem {
  std::string key, what;
};
/// All errors in formulas that have an effect, and in all parameters that are set.
std::vector<FormulaProblem> formula_problems(const ParameterSettings& set, const FormulaTexts& texts,
                                             const FormulaContext& context);

/// A parameter's table, and its options with their values in TOML syntax.
struct WrittenParameter {
  std::string table;
  std::vector<std::pair<const Option*, std::string>> options;
};
/// The parameters in the lines of `attention.parameters`.
std::vector<WrittenParameter> written_parameters(const std::vector<std::string>& lines);

} // namespace heed
