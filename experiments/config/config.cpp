#include "experiments/config/config.hpp"

#include "autograd/error.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <set>

// Defined here, so that they are compiled once and not in each file that uses Config.

namespace heed {

Config::Config() = default;
Config::Config(const Config&) = default;
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(const Config&) = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

namespace {

/// The rank of an option: the order of the catalogue, with the options of single blocks after all others.
std::size_t place_of(const std::string& key) {
  const std::vector<std::string>& keys = all_keys();
  const std::string_view option = key.starts_with(formula_parameters_prefix) ? formula_parameters_key : key;
  return static_cast<std::size_t>(std::find(keys.begin(), keys.end(), option) - keys.begin());
}

bool is_set_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

} // namespace

std::vector<Difference> difference(const Config& a, const Config& b) {
  std::map<std::pair<std::size_t, std::string>, Difference> found;
  for (const FlatOption& option : flatten(a))
    found[{place_of(option.key), option.key}] = {option.key, option.value, ""};
  for (const FlatOption& option : flatten(b)) {
    Difference& d = found[{place_of(option.key), option.key}];
    d.key = option.key;
    d.b = option.value;
  }
  std::vector<Difference> out;
  for (auto& [place, d] : found)
    if (d.a != d.b) out.push_back(std::move(d));
  return out;
}

Config default_config() { return Settings().resolve(); }

std::vector<ValidationSet> validation_sets(const DataOptions& data) {
  std::vector<ValidationSet> out;
  std::set<std::string> names;
  for (const std::string& entry : data.validation_sets) {
    const auto refuse = [&](const std::string& why) {
      throw Refused(fmt::format("[data] validation_sets holds \"{}\": {}; write NAME = FILE, for example: "
                                "validation_sets = [\"long = long.tsv\"]",
                                entry, why));
    };
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) refuse("it has no '='");
    ValidationSet set{std::string(trimmed(std::string_view(entry).substr(0, equals))),
                      std::string(trimmed(std::string_view(entry).substr(equals + 1)))};
    if (!is_set_name(set.name)) refuse("a name has letters, digits, '_' and '-'");
    if (set.path.empty()) refuse("it names no file");
    if (!names.insert(set.name).second) refuse(fmt::format("the name '{}' is there twice", set.name));
    out.push_back(std::move(set));
  }
  return out;
}

std::string name_on_set(std::string_view metric, std::string_view set) { return fmt::format("{}_on.{}", metric, set); }

std::string metric_on_a_set(std::string_view name) {
  constexpr std::string_view on = "_on.";
  const std::size_t place = name.find(on);
  if (place == name.npos || !is_set_name(name.substr(place + on.size()))) return "";
  return std::string(name.substr(0, place));
}

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
