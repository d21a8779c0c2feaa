// Attention as a formula in a configuration: the tables [attention.parameters.NAME], whose names are the user's, and
// what may be wrong with a formula.
#pragma once

#include "experiments/config/settings.hpp"
#include "layers/layer_options.hpp"

namespace heed {

/// The option that holds all parameters of a resolved configuration, as lines, and the table that holds their tables.
inline constexpr std::string_view formula_parameters_key = "attention.parameters",
                                  formula_parameters_prefix = "attention.parameters.";

/// The table of any parameter, as [attention.parameters.NAME].
const TableInfo& parameter_table();
/// Is it the table of a parameter: "attention.parameters.slope"? Its name must be one that a parameter may have.
bool is_parameter_table(std::string_view table);
/// The option of a key such as "attention.parameters.slope.start"; null where it is none.
const Option* parameter_option(std::string_view key);
/// The sentence for a name that no parameter may have: "attention.parameters.tanh".
std::string wrong_parameter_name(std::string_view table);

/// Settings of parameters, by full name.
using ParameterSettings = std::map<std::string, Setting>;
/// What `attention.parameters` is for these formulas: those that they name, each as a line, in the order of names.
std::vector<std::string> parameter_lines(const ParameterSettings& set, const std::string& score_mod,
                                         const std::string& mask_mod);
/// Do the formulas name the parameter that the key is of?
bool formulas_name(std::string_view key, const ParameterSettings& set, const std::string& score_mod,
                   const std::string& mask_mod);

/// Something wrong with a formula or a parameter: the option that it is about, and a sentence.
struct FormulaProblem {
  std::string key, what;
};
/// Everything that is, with formulas that do something and all parameters that are set.
std::vector<FormulaProblem> formula_problems(const ParameterSettings& set, const std::string& score_mod,
                                             const std::string& mask_mod, bool causal);

/// A parameter's table, and its options with their values as TOML would write them.
struct WrittenParameter {
  std::string table;
  std::vector<std::pair<const Option*, std::string>> options;
};
/// Those of the lines of `attention.parameters`.
std::vector<WrittenParameter> written_parameters(const std::vector<std::string>& lines);

} // namespace heed
