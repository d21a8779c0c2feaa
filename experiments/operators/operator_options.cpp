#include "experiments/operators/operator_options.hpp"

#include "autograd/error.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/unknown_names.hpp"
#include "layers/attention/part.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace heed {

namespace {

using Kind = OperatorSizes::Kind;

std::string_view name_of(std::string_view assignment) { return assignment.substr(0, assignment.find('=')); }

template <std::size_t n> bool is_one_of(std::string_view name, const std::array<const char*, n>& names) {
  return std::ranges::find(names, name) != names.end();
}

// What the call itself sets by this option; empty: nothing.
std::string own_choice(std::string_view key) {
  constexpr std::array of_attention = {"score",    "normalizer", "causal",   "prefix", "window",
                                       "dilation", "score_mod",  "mask_mod", "dropout"};
  if (key == "position.kind") return "the argument position";
  if (key == "model.width" || key == "model.heads") return "the sizes of the call";
  if (key == "precision") return "the dtype of the tensors";
  if (key.starts_with("attention.") && is_one_of(key.substr(10), of_attention))
    return fmt::format("the argument {}", key.substr(10));
  return {};
}

bool is_in_a_table_of(std::string_view table, std::string_view key) {
  return key.starts_with(table) && key.find('.', table.size()) != std::string_view::npos;
}

// Does a part of attention with this option act in an operator of this kind?
bool acts(std::string_view option, Kind kind) {
  using Place = f32::AttentionPartInfo::Place;
  for (const f32::AttentionPartInfo* part : f32::attention_parts()) {
    if (std::ranges::find(part->about.options, option, &Option::name) == part->about.options.end()) continue;
    const bool is_of_one_block = !part->uses_first_values; // an operator has no other blocks
    return is_of_one_block && (kind == Kind::self || part->place == Place::every_attention ||
                               (kind == Kind::cross && part->place == Place::multi_head));
  }
  return false;
}

// Can the option change the operator's result, its parameters, or their initial values? Options of variants and of
// formulas can; if the variant is not chosen, the configuration refuses them.
bool has_effect(std::string_view key, Kind kind, bool chooses_initial_values) {
  constexpr std::array of_projections = {"projection",      "head_width", "value_width",
                                         "key_value_heads", "qkv_bias",   "output_bias"};
  constexpr std::array of_initial_values = {"model.scaled_init", "model.layers"};
  const bool has_projections = kind != Kind::heads;
  if (key.starts_with("attention.")) {
    const std::string_view name = key.substr(10);
    return is_in_a_table_of("attention.", key) || name == "parameters" || acts(name, kind) ||
           (has_projections && is_one_of(name, of_projections));
  }
  if (key.starts_with("position.")) return is_in_a_table_of("position.", key) && kind != Kind::cross;
  if (!has_projections) return false;
  return key == "block.bias" || key == "init.linear" || key == "init.qkv" || key == "model.init_std" ||
         (key == "init.position" && kind == Kind::self) ||
         (chooses_initial_values && is_one_of(key, of_initial_values));
}

void check_further(const OperatorOptions& options, Kind kind) {
  const bool chooses_initial_values = std::ranges::any_of(options.further, [](const std::string& one) {
    return name_of(one) == "init.linear";
  });
  for (const std::string& one : options.further) {
    const std::string_view key = name_of(one);
    if (!find_option(key)) throw Refused("options: " + unknown_key(key));
    if (const std::string own = own_choice(key); !own.empty())
      throw Refused(fmt::format("options: {} is set by {}: leave it out of the options", key, own));
    if (!has_effect(key, kind, chooses_initial_values))
      throw Refused(fmt::format("options: {} does nothing in {}; {}: leave it out", key,
                                kind == Kind::heads  ? "attention without projections"
                                : kind == Kind::self ? "this multi-head attention"
                                                     : "cross attention",
                                kind == Kind::heads ? "options of the score, the normaliser, the position and formulas "
                                                      "have an effect, and attention.talking_heads"
                                                    : "options of [attention], [position] and block.bias have an "
                                                      "effect, if they are about one layer, and init.linear"));
  }
}

} // namespace

Config operator_config(const OperatorOptions& options, const OperatorSizes& sizes) {
  for (const auto* all : {&options.arguments, &options.further})
    for (const std::string& one : *all)
      if (one.ends_with("=@default"))
        throw Refused(fmt::format("{}: '@default' is a word of the command line: leave {} out", one, name_of(one)));
  for (const std::string& one : options.arguments)
    if (own_choice(name_of(one)).empty())
      throw Refused(fmt::format("{} is no argument of the call: it is a further option", name_of(one)));
  check_further(options, sizes.kind);
  const bool is_cross = sizes.kind == Kind::cross;
  std::vector<std::string> all = {"precision=" + options.precision};
  const bool has_position = std::ranges::any_of(options.arguments,
                                                [](const std::string& one) { return name_of(one) == "position.kind"; });
  if (!has_position) all.push_back("position.kind=none");
  if (sizes.kind != Kind::heads) {
    all.push_back(fmt::format("model.width={}", sizes.width));
    all.push_back(fmt::format("model.heads={}", sizes.heads));
  }
  if (is_cross) all.push_back("model.kind=encoder_decoder");
  for (const std::string& one : options.arguments) {
    const bool is_formula = name_of(one) == "attention.score_mod" || name_of(one) == "attention.mask_mod";
    all.push_back(is_cross && is_formula ? "attention.cross_" + one.substr(10) : one);
  }
  all.insert(all.end(), options.further.begin(), options.further.end());
  Settings settings = Settings::parse("", "heed.torch");
  settings.override_with(all, "heed.torch");
  if (!settings.notes().empty()) throw Refused(settings.notes().front()); // one option twice
  return settings.resolve_for_part();
}

} // namespace heed
