// heed variants: everything interchangeable, from its own info record.
#include "autograd/error.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/json_text.hpp"
#include "experiments/command_line/print.hpp"
#include "experiments/config/schema.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"
#include "options/variant.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

namespace heed {

namespace {

struct VariantsArguments {
  std::string family;
  bool json = false;
};

/// "attention.score"; "score" and the family's title find it as well.
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
    throw Refused(fmt::format("variants: there is no family {}{}; families: {}", name, did_you_mean(name, names),
                              fmt::join(names, ", ")));
  return found;
}

void print_text(const VariantFamily& family, Console& console) {
  const Style& style = console.out_style;
  print(console.out, "{}  {}\n\n", style.bold(key_of(family)), family.title);
  for (const Variant* variant : family.variants) {
    print(console.out, "  {}\n      {}\n", style.bold(variant->name), variant->summary);
    if (!variant->paper.empty()) print(console.out, "      paper: {}\n", variant->paper);
    if (!variant->equals.empty()) print(console.out, "      equals: {}\n", variant->equals);
    if (!variant->cost.empty()) print(console.out, "      cost: {}\n", variant->cost);
    for (const auto& [key, value] : variant->presets)
      print(console.out, "      sets: {} = {}, unless you do\n", key, value_text(value));
    for (const Option& option : variant->options)
      print(console.out, "      {}.{}.{} = {}: {}\n", family.table, variant->name, option.name,
            value_text(option.default_value), option.meaning);
    console.out << "\n";
  }
}

/// The options of a variant's own table, as `heed options --json` has them.
boost::json::value options_of(const VariantFamily& family, const Variant& variant) {
  if (variant.options.empty()) return boost::json::array();
  return boost::json::parse(options_json(family.table + "." + variant.name)).at(0).at("options");
}

boost::json::value family_json(const VariantFamily& family) {
  boost::json::array variants;
  for (const Variant* variant : family.variants) {
    boost::json::object presets;
    for (const auto& [key, value] : variant->presets) presets[key] = value_text(value);
    variants.push_back(boost::json::object{{"name", variant->name},
                                           {"summary", variant->summary},
                                           {"paper", variant->paper},
                                           {"equals", variant->equals},
                                           {"cost", variant->cost},
                                           {"options", options_of(family, *variant)},
                                           {"presets", std::move(presets)}});
  }
  return boost::json::object{{"key", key_of(family)}, {"title", family.title}, {"variants", std::move(variants)}};
}

int variants(const VariantsArguments& arguments, Console& console) {
  const std::vector<VariantFamily> families = families_called(arguments.family);
  if (arguments.json) {
    boost::json::array all;
    for (const VariantFamily& family : families) all.push_back(family_json(family));
    console.out << indented(all);
    return 0;
  }
  for (const VariantFamily& family : families) print_text(family, console);
  return 0;
}

} // namespace

void add_variants(Commands& commands) {
  add_command<VariantsArguments>(
      commands, "variants", "scores, normalisers, positions, tasks, models, ...: formula, paper, cost, options",
      "Examples:\n"
      "  heed variants\n"
      "  heed variants attention.score\n"
      "  heed variants position --json" +
          std::string(exit_statuses),
      [](Command& command, VariantsArguments& arguments) {
        command.add("FAMILY", arguments.family, "only these: attention.score, score, position, ...").value_name("");
        command.add_flag("--json", arguments.json, "for programs");
      },
      variants);
}

} // namespace heed
