// The versions of the numerics that a configuration's results depend on.
#include "experiments/config/config.hpp"

#include "experiments/config/catalogue.hpp"

#include <fmt/format.h>

namespace heed {

std::vector<VariantInUse> variants_in_use(const std::vector<FlatOption>& options) {
  std::vector<VariantInUse> out;
  const auto add = [&](const std::string& table, const Variant* variant) {
    if (variant && std::ranges::find(out, variant, &VariantInUse::variant) == out.end())
      out.push_back({full_name(table, variant->name), variant});
  };
  for (const FlatOption& option : options) {
    const Option* described = find_option(option.option);
    const std::string_view family = described && !described->variants_of.empty() ? described->variants_of
                                                                                 : option.option;
    for (const FamilyPlace& place : family_places())
      if (place.key == family && option.value.size() > 2) // a word in quotation marks
        add(place.family.table, find_variant(place.family, option.value.substr(1, option.value.size() - 2)));
    if (!option.identifies) continue;
    for (const Variant* part : attention_parts()) // used if one of its options differs from the default
      if (std::ranges::any_of(part->options,
                              [&](const Option& o) { return option.option == full_name("attention", o.name); }))
        add("attention", part);
  }
  return out;
}

std::string numerics_text(const std::vector<VariantInUse>& variants) {
  std::vector<std::string> changed;
  for (const VariantInUse& used : variants)
    if (used.variant->numerics > 0) changed.push_back(fmt::format(", {} {}", used.name, used.variant->numerics));
  std::ranges::sort(changed);
  return fmt::format("{}{}", numerics_version, fmt::join(changed, ""));
}

std::string numerics_of(const std::vector<FlatOption>& options) { return numerics_text(variants_in_use(options)); }

} // namespace heed
