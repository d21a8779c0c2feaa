#include "layers/exclusions.hpp"

#include "layers/attention/normalizer.hpp"
#include "layers/attention/part.hpp"
#include "layers/attention/projection.hpp"
#include "layers/attention/score.hpp"
#include "layers/mixer.hpp"
#include "layers/mixers/decay.hpp"
#include "layers/mixers/feature.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace heed::HEED_REAL {

namespace {

OptionCondition has(std::string option, std::vector<std::string> words) {
  return {"", std::move(option), std::move(words)};
}
OptionCondition has_not(std::string option, std::vector<std::string> words) {
  return {"", std::move(option), std::move(words), true};
}
OptionCondition is_set(std::string option) { return has(std::move(option), {OptionCondition::anything}); }

OptionCondition has_part_named(const AttentionPartInfo& info) {
  const Option& option = info.about.options.front();
  return has_not("attention." + option.name, {choice_word(option.default_value)});
}

// Exclusions that are not of single variants, or are the same for several.
void add_general(std::vector<Exclusion>& out) {
  for (const NormalizerInfo* info : normalizers()) {
    if (!info->is_ordered) continue;
    const std::string& name = info->about.name;
    const OptionCondition chosen = has("attention.normalizer", {name});
    out.push_back(
        {{chosen, has("attention.causal", {"false"})},
         fmt::format("the normaliser '{}' gives weights only to earlier keys: it needs attention.causal = true",
                     name)});
    out.push_back({{chosen, is_set("attention.prefix"), has_not("attention.window", {OptionCondition::anything}),
                    has("attention.dilation", {"1"})},
                   fmt::format("the normaliser '{}' gives weights only to earlier keys, and without a window a query "
                               "sees all of them anyway: attention.prefix has no effect",
                               name)});
    out.push_back({{chosen},
                   fmt::format("the normaliser '{}' orders keys by their distance from the query, so only self "
                               "attention can use it: choose another one here (in an encoder-decoder, by "
                               "attention.cross_normalizer)",
                               name),
                   Exclusion::Of::other_attention});
    for (const auto& [what, option, part] : keys_without_position())
      out.push_back({{chosen, is_set(option)},
                     fmt::format("the normaliser '{}' orders keys by their position, and {} have none; set {} = 0",
                                 name, what, option)});
  }
  for (const auto& [what, option, adds] : keys_without_position()) {
    for (const AttentionPartInfo* part : attention_parts())
      if (part->needs_positions)
        out.push_back({{has_part_named(*part), is_set(option)},
                       fmt::format("{}, and {} have no position; set {} = 0", part->needs_positions, what, option)});
    out.push_back({{is_set("attention.mask_mod"), is_set(option)},
                   fmt::format("mask_mod decides by positions, and {} have none; set {} = 0", what, option)});
  }
  out.push_back({{is_set("attention.mask_mod"), is_set("model.registers")},
                 "cross_mask_mod uses the positions of queries, and registers have none; set model.registers = 0",
                 Exclusion::Of::other_attention});
  OptionCondition sees_a_part = is_set("attention.window");
  sees_a_part.others = {has_not("attention.dilation", {"1"})};
  out.push_back(
      {{is_set("model.registers"), has("attention.causal", {"false"}), sees_a_part},
       "in a window or with a dilation, registers would see only a part of the sequence (with attention.causal = "
       "true, they see only each other): set model.registers = 0"});
  out.push_back({{has("block.parallel", {"true"}), has("block.residual", {"attention", "ffn"})},
                 "with block.parallel both sublayers share one residual sum; block.residual must be 'both' or 'none'"});
  const OptionCondition is_recurrence = has_not("mixer.kind", {"attention"});
  out.push_back(
      {{is_recurrence, has_not("model.kind", {"decoder"})},
       "a recurrence reads tokens in their order, and there is none in blocks with cross attention: choose model.kind "
       "= \"decoder\", or mixer.kind = \"attention\""});
  out.push_back({{is_recurrence, is_set("model.segment_end"), is_set("model.registers")},
                 "a recurrence begins anew with each segment, so only the first one would see the registers: set "
                 "model.registers = 0"});
  out.push_back({{is_recurrence, has_not("mixer.erase", {"none"}), has("mixer.normalizer", {"sum"})},
                 "an erase makes weights negative, and their sum may be 0: set mixer.normalizer = \"none\""});
  out.push_back({{has("model.tied_embeddings", {"true"}), has("position.combine", {"concat"}),
                  has("position.concat", {"widen"})},
                 "tied embeddings are the output layer's weights, and concatenated positions make the model wider than "
                 "the embeddings: set model.tied_embeddings = false, or position.concat = \"project\""});
}

template <class Info>
void add_of(std::vector<Exclusion>& out, const std::string& key, std::span<const Info* const> family) {
  for (const Info* info : family)
    for (Exclusion exclusion : info->about.excludes) {
      exclusion.where.insert(exclusion.where.begin(), has(key, {info->about.name}));
      out.push_back(std::move(exclusion));
    }
}

void add(ValuesByName& to, const std::string& table, const OptionValues& values) {
  for (const auto& [name, value] : values) {
    std::string key = table;
    to.insert_or_assign(key.append(".").append(name), value);
  }
}
void add(ValuesByName& to, const std::string& table, const Variant& chosen, const OptionValues& values) {
  const std::string own = table + "." + chosen.name;
  OptionValues defaults;
  for (const Option& option : chosen.options) defaults[option.name] = option.default_value;
  add(to, own, defaults);
  add(to, own, values);
}

ValuesByName values_of(const LayerChoice& choice) {
  ValuesByName out;
  OptionValues of_parts;
  for (const AttentionPartInfo* part : attention_parts())
    for (const Option& option : part->about.options) of_parts[option.name] = option.default_value;
  add(out, "attention", of_parts);
  add(out, "attention", choice.part_options);
  add(out, "attention", attention_option_table().write(choice.attention));
  add(out, "attention", score_info(choice.attention.score).about, choice.score_options);
  add(out, "attention", normalizer_info(choice.attention.normalizer).about, choice.normalizer_options);
  add(out, "attention", projection_info(choice.attention.projection).about, choice.projection_options);
  add(out, "mixer", mixer_option_table().write(choice.mixer));
  add(out, "mixer", feature_info(choice.mixer.feature).about, choice.feature_options);
  add(out, "mixer", decay_info(choice.mixer.decay).about, choice.decay_options);
  add(out, "position", position_option_table().write(choice.position));
  add(out, "position", position_info(choice.position.kind).about, choice.position_options);
  add(out, "block", block_option_table().write(choice.block));
  return out;
}

// The option by which the condition holds; none if it does not hold.
std::optional<std::string> holds(const OptionCondition& condition, const ValuesByName& values) {
  if (const auto found = values.find(condition.on);
      found != values.end() && is_listed(condition.words, found->second) != condition.unless)
    return condition.on;
  for (const OptionCondition& other : condition.others)
    if (const auto option = holds(other, values)) return option;
  return std::nullopt;
}

} // namespace

const std::vector<KeysWithoutPosition>& keys_without_position() {
  static const std::vector<KeysWithoutPosition> all = [] {
    std::vector<KeysWithoutPosition> out = {{"registers", "model.registers"}};
    for (const AttentionPartInfo* part : attention_parts()) {
      if (!part->adds_keys) continue;
      out.push_back({part->about.name, "attention." + part->about.name, part});
      std::ranges::replace(out.back().what, '_', ' ');
    }
    return out;
  }();
  return all;
}

const std::vector<Exclusion>& exclusions() {
  static const std::vector<Exclusion> all = [] {
    std::vector<Exclusion> out;
    add_of(out, "attention.score", scores());
    add_of(out, "attention.normalizer", normalizers());
    add_of(out, "attention.projection", projections());
    add_of(out, "position.kind", positions());
    add_of(out, "mixer.kind", mixers());
    for (const AttentionPartInfo* part : attention_parts())
      for (Exclusion exclusion : part->about.excludes) {
        const OptionCondition has_part = has_part_named(*part);
        if (std::ranges::count(exclusion.where, has_part.on, &OptionCondition::on) == 0) // not of one of its words
          exclusion.where.insert(exclusion.where.begin(), has_part);
        out.push_back(std::move(exclusion));
      }
    add_general(out);
    return out;
  }();
  return all;
}

Refusal excluded(const LayerChoice& choice, bool is_self, const ValuesByName& others) {
  ValuesByName values = values_of(choice);
  values.insert(others.begin(), others.end());
  for (const Exclusion& exclusion : exclusions()) {
    if (exclusion.of == (is_self ? Exclusion::Of::other_attention : Exclusion::Of::self_attention)) continue;
    Refusal found{exclusion.why, {}};
    for (const OptionCondition& condition : exclusion.where)
      if (auto option = holds(condition, values)) found.options.push_back(std::move(*option));
    if (found.options.size() == exclusion.where.size()) return found;
  }
  return {};
}

} // namespace heed::HEED_REAL
