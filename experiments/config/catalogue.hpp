// The catalogue of all configurable options: for each table of a configuration, its options, their types and bounds,
// and the members of Config that store their values. It is built once, from the option tables and the records of the
// variants. Which options only have an effect under certain values of other options. The tables of the parameters of
// attention formulas.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "layers/layer_options.hpp"
#include "options/variant.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

const OptionTable<GeneralOptions>& general_option_table();
const OptionTable<DataOptions>& data_option_table();
const OptionTable<TaskOptions>& task_option_table();
const OptionTable<ModelOptions>& model_option_table();
const OptionTable<InitOptions>& init_option_table();
const OptionTable<TrainOptions>& train_option_table();
const OptionTable<EngineOptions>& engine_option_table();
const OptionTable<ReportOptions>& report_option_table();

/// A table of options of the model or the experiment, with accessors for the struct that stores its values. The tables
/// of blocks ([attention], [block]) have one value per layer; the other tables have one value for the whole run.
struct Section {
  std::string table; ///< "" : the top level
  std::string title;
  std::vector<Option> options;
  /// Values are in the order of the options.
  std::function<void(Config&, const std::vector<Value>&)> set; ///< empty for a table of blocks
  std::function<std::vector<Value>(const Config&)> get;
  std::function<void(LayerChoice&, const std::vector<Value>&)> set_layer; ///< empty for a table of the whole run
  std::function<std::vector<Value>(const LayerChoice&)> get_layer;
};

/// A family of variants, and the member that stores the options of the chosen variant.
struct FamilyPlace {
  VariantFamily family;
  std::string key;                                    ///< "attention.score"
  OptionValues Config::*options = nullptr;            ///< for a table of the whole run
  OptionValues LayerChoice::*layer_options = nullptr; ///< for a table of blocks
};

/// All sections, in display order.
const std::vector<Section>& sections();
const std::vector<FamilyPlace>& family_places();
/// The records of the parts of attention, whose options are keys of [attention].
const std::vector<const Variant*>& attention_parts();
/// The options and tables that have no effect with this variant: `Variant::disables`, and for a model without blocks
/// those of Option::of_blocks. `family_key` names the family: "model.kind".
std::vector<std::string> disabled_by(std::string_view family_key, const Variant& variant);
/// All sections, each followed by the tables of the variants of its families.
const std::vector<TableInfo>& catalogue();

/// The option with this full name, or null. It also finds the options of formula parameters
/// ("attention.parameters.slope.start"), which are not in `all_keys()` (`parameter_option`).
const Option* find_option(std::string_view key);
/// The table with this name, or null. It also finds the tables of formula parameters.
const TableInfo* find_table(std::string_view table);
/// The variant of this family with this name, or null.
const Variant* find_variant(const VariantFamily& family, const Value& name);

/// The full name of an option: "attention.score", or "seed" if the table is the top level.
std::string full_name(std::string_view table, std::string_view option);
/// The table as messages name it: "[attention]" or "the top level".
std::string table_in_words(std::string_view table);
/// True if the option or table has one value per block of the model, so that [[block.override]] may set it.
bool belongs_to_blocks(std::string_view key);
/// The names of a model's stacks of blocks, in order; empty if it has no blocks.
const std::vector<std::string>& stacks_of(const std::string& model_kind);
/// The values of position.kind that act within attention, or do nothing. Blocks may have different ones. The other
/// values add to the token embeddings.
std::vector<std::string> positions_of_blocks();
/// The full names of all options, in the order of the catalogue.
const std::vector<std::string>& all_keys();

/// The index of an option in `all_keys()`. Throws std::out_of_range if the option does not exist.
std::size_t option_index(std::string_view key);
/// The index of a table's first option. The table's other options follow it in order.
std::size_t first_option(std::string_view table);

/// One T per option, accessed by the option's index or full name.
template <class T> class OfOptions {
public:
  OfOptions() : all_(all_keys().size()) {}
  T& operator[](std::size_t option) { return all_[option]; }
  const T& operator[](std::size_t option) const { return all_[option]; }
  T& at(std::string_view key) { return all_[option_index(key)]; }
  const T& at(std::string_view key) const { return all_[option_index(key)]; }

private:
  std::vector<T> all_;
};

/// All dependencies. If the option on which one depends has no effect itself, its value counts as none of the words.
const std::vector<OptionCondition>& dependencies();

/// Returns the value of an option, given by its index.
using ValueOf = std::function<const Value&(std::size_t option)>;

/// The first dependency of an option that the values do not meet; null if the option has an effect.
const OptionCondition* unmet_dependency(std::size_t option, const ValueOf& value_of);
const OptionCondition* unmet_dependency(std::string_view key, const ValueOf& value_of);

/// "attention.score is 'cosine', or attention.window is given": the condition and its other cases.
std::string condition_in_words(const OptionCondition& condition);
/// The condition in words, without the name of the option: "matters only where attention.score is 'cosine'".
std::string dependency_in_words(const OptionCondition& dependency);

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
