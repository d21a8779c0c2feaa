// Stores resolved values in the structs of Config.
#include "experiments/config/config.hpp"
#include "experiments/config/dependencies.hpp"
#include "experiments/config/resolution.hpp"
#include "options/variant.hpp"

#include <algorithm>

namespace heed {
namespace {

/// The effective value of each option of a table, in order: a view's value, or the default if the option has no effect
/// in any of the deciding views.
std::vector<Value> values_in(std::string_view table, const std::vector<Option>& options, const View& view,
                             const std::vector<const View*>& deciding) {
  std::vector<Value> out;
  std::size_t at = first_option(table);
  for (const Option& o : options) {
    const bool idle = std::ranges::all_of(deciding,
                                          [&](const View* of) { return unmet_dependency(at, values_of(*of)); });
    out.push_back(idle ? o.default_value : view[at].value);
    ++at;
  }
  return out;
}

OptionValues variant_values(const FamilyPlace& place, const View& view) {
  const bool idle = unmet_dependency(place.key, values_of(view)) != nullptr;
  const Variant* variant = find_variant(place.family,
                                        idle ? find_option(place.key)->default_value : view.at(place.key).value);
  std::vector<Value> values = values_in(full_name(place.family.table, variant->name), variant->options, view, {&view});
  OptionValues out;
  for (std::size_t i = 0; i < values.size(); ++i) out[variant->options[i].name] = std::move(values[i]);
  return out;
}

std::vector<LayerChoice> layers_of(const std::vector<View>& stack) {
  std::vector<LayerChoice> out(stack.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const Section& s : sections())
      if (s.set_layer) s.set_layer(out[i], values_in(s.table, s.options, stack[i], {&stack[i]}));
    for (const FamilyPlace& place : family_places())
      if (place.layer_options) out[i].*place.layer_options = variant_values(place, stack[i]);
  }
  return out;
}

} // namespace

Config resolved_config(const Resolution& resolution) {
  Config out;
  out.layers = layers_of(resolution.blocks.front());
  if (resolution.blocks.size() > 1) out.decoder_layers = layers_of(resolution.blocks.back());
  const std::vector<const View*> deciding = resolution.deciding_views();
  for (const Section& s : sections())
    if (s.set) s.set(out, values_in(s.table, s.options, resolution.run, deciding));
  if (!out.model.segment_end.empty() && !resolution.uses_segments()) out.model.segment_end.clear();
  for (const FamilyPlace& place : family_places())
    if (place.options) out.*place.options = variant_values(place, resolution.run);
  return out;
}

Config Settings::resolve() const {
  const Resolution resolution(*this);
  resolution.problems.refuse();
  Config out = resolved_config(resolution);
  if (const auto start = start_checksums_.find(out.train.start);
      start != start_checksums_.end() && out.train.start_checksum.empty())
    out.train.start_checksum = start->second;
  return out;
}

std::vector<std::string> Settings::dropped() const { return Resolution(*this).dropped; }

} // namespace heed
