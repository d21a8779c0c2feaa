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
/// The value of `attention.parameters` for these formulas: one line per parameter that the formulas name, in order of
/// names.
std::vector<std::string> parameter_lines(const ParameterSettings& set, const std::string& score_mod,
                                         const std::string& mask_mod);
/// True if the formulas name the parameter to which the key belongs.
bool formulas_name(std::string_view key, const ParameterSettings& set, const std::string& score_mod,
                   const std::string& mask_mod);

/// An error in a formula or a parameter: the option's key, and a sentence.
struct FormulaProblem {
  std::string key, what;
};
/// All errors in formulas that have an effect, and in all parameters that are set.
std::vector<FormulaProblem> formula_problems(const ParameterSettings& set, const std::string& score_mod,
                                             const std::string& mask_mod, bool causal);

/// A parameter's table, and its options with their values in TOML syntax.
struct WrittenParameter {
  std::string table;
  std::vector<std::pair<const Option*, std::string>> options;
};
/// The parameters in the lines of `attention.parameters`.
std::vector<WrittenParameter> written_parameters(const std::vector<std::string>& lines);

} // namespace heed
