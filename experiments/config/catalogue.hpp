// The catalogue of all configurable options: for each table of a configuration, its options, their types and bounds,
// and the members of Config that store their values. It is built once, from the option tables and the records of the
// variants.
#pragma once

#include "experiments/config/settings.hpp"
#include "layers/layer_options.hpp"
#include "options/variant.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

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
/// ("attention.parameters.slope.start"), which are not in `all_keys()` (experiments/config/formulas.hpp).
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

} // namespace heed
