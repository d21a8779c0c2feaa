// The catalogue of everything that can be configured: each table of a configuration, where its values go in a Config,
// and what may stand in it. Built once, from the option tables and from the variants' own records.
#pragma once

#include "experiments/config/settings.hpp"
#include "layers/layer_options.hpp"
#include "options/variant.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A table of options of the model or the experiment, and the struct that holds its values. Tables of blocks
/// ([attention], [block]) have values for each layer, the others for the whole run.
struct Section {
  std::string table; ///< "" : the top level
  std::string title;
  std::vector<Option> options;
  /// Values stand in the options' order.
  std::function<void(Config&, const std::vector<Value>&)> set; ///< empty for a table of blocks
  std::function<std::vector<Value>(const Config&)> get;
  std::function<void(LayerChoice&, const std::vector<Value>&)> set_layer; ///< empty for a table of the whole run
  std::function<std::vector<Value>(const LayerChoice&)> get_layer;
};

/// A family of variants, and where the options of the chosen one go.
struct FamilyPlace {
  VariantFamily family;
  std::string key;                                    ///< "attention.score"
  OptionValues Config::*options = nullptr;            ///< either this
  OptionValues LayerChoice::*layer_options = nullptr; ///< or, for a table of blocks, this
};

/// All sections, in the order in which they are shown.
const std::vector<Section>& sections();
const std::vector<FamilyPlace>& family_places();
/// Sections, each followed by the tables of its families' variants.
const std::vector<TableInfo>& catalogue();

/// The option of a full name, or null. Also those of formulas' parameters ("attention.parameters.slope.start"), which
/// have no place in `all_keys()` (experiments/config/formulas.hpp).
const Option* find_option(std::string_view key);
/// The table of a name, or null; likewise.
const TableInfo* find_table(std::string_view table);
/// The variant of a family by its name, or null.
const Variant* find_variant(const VariantFamily& family, const Value& name);

/// "attention.score"; "seed" where the table is the top level.
std::string full_name(std::string_view table, std::string_view option);
/// "[attention]", or "the top level".
std::string table_in_words(std::string_view table);
/// Whether the option or table has a value for each block of the model, so that [[block.override]] may set it.
bool belongs_to_blocks(std::string_view key);
/// All options' full names, in the catalogue's order.
const std::vector<std::string>& all_keys();

/// An option's place in `all_keys()`; throws std::out_of_range where there is no such option.
std::size_t option_index(std::string_view key);
/// The place of a table's first option, whose others follow in order.
std::size_t first_option(std::string_view table);

/// Something of each option, by its place or its full name.
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
