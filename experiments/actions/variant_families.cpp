#include "experiments/actions/variant_families.hpp"

#include "autograd/error.hpp"
#include "experiments/config/registry.hpp"
#include "experiments/config/schema.hpp"
#include "experiments/config/values.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// The options in a variant's own table, in the format of `heed options --json`.
boost::json::value options_of(const VariantFamily& family, const Variant& variant) {
  if (variant.options.empty()) return boost::json::array();
  return boost::json::parse(options_json(family.table + "." + variant.name)).at(0).at("options");
}

/// With what a variant can't be combined, and why.
std::vector<VariantExclusion> exclusions_of(const VariantFamily& family, const Variant& variant) {
  std::vector<VariantExclusion> out;
  for (const Exclusion& exclusion : registry().exclusions) {
    const auto is_choice = [&](const OptionCondition& c) {
      return c.on == key_of(family) && !c.unless && is_listed(c.words, Value(variant.name));
    };
    if (std::ranges::none_of(exclusion.where, is_choice)) continue;
    VariantExclusion& found = out.emplace_back(VariantExclusion{.why = exclusion.why});
    for (const OptionCondition& condition : exclusion.where)
      if (!is_choice(condition)) found.where.push_back(condition_in_words(condition));
    if (exclusion.of == Exclusion::Of::other_attention) found.where.emplace_back("it is not self attention");
  }
  return out;
}

} // namespace

std::string key_of(const VariantFamily& family) { return family.table + "." + family.key; }

std::vector<VariantFamily> families_called(const std::string& name) {
  std::vector<VariantFamily> all = variant_families(), found;
  if (name.empty()) return all;
  std::vector<std::string> names;
  for (const VariantFamily& family : all) names.push_back(key_of(family));
  for (VariantFamily& family : all)
    if (name == key_of(family) || name == family.table || name == family.key || name == family.title)
      found.push_back(std::move(family));
  if (found.empty())
    for (VariantFamily& family : all) {
      std::erase_if(family.variants, [&](const Variant* variant) { return variant->name != name; });
      if (!family.variants.empty()) found.push_back(std::move(family));
    }
  if (found.empty())
    throw Refused(fmt::format("variants: there is no family {}{}; families: {}", name, did_you_mean(name, names),
                              fmt::join(names, ", ")));
  return found;
}

VariantFamilyResult family_result(const VariantFamily& family) {
  VariantFamilyResult out{key_of(family), family.title, {}};
  for (const Variant* variant : family.variants) {
    VariantResult& of = out.variants.emplace_back(VariantResult{.name = variant->name,
                                                                .summary = variant->summary,
                                                                .paper = variant->paper,
                                                                .equals = variant->equals,
                                                                .cost = variant->cost,
                                                                .disables = disabled_by(key_of(family), *variant),
                                                                .excludes = exclusions_of(family, *variant),
                                                                .options = options_of(family, *variant)});
    for (const auto& [key, value] : variant->presets) of.presets[key] = value_text(value);
  }
  return out;
}

} // namespace heed
