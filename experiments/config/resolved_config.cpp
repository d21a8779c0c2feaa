// Stores resolved values in the structs of Config: options, the formulas of each block, and the runs from which others
// start ([train] start), by their full IDs and with their checksums.
#include "experiments/config/config.hpp"
#include "experiments/config/registry.hpp"
#include "experiments/config/resolution.hpp"
#include "options/variant.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

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

constexpr const char* start_option = "train.start";

/// Calls `use` for each change of the sweep.
template <class Use> void each_change(SweepSpec& sweep, const Use& use) {
  const auto all = [&](std::vector<Change>& changes) {
    for (Change& change : changes) use(change);
  };
  for (SweepBlock& block : sweep.blocks) {
    for (auto& [key, values] : block.axes) all(values);
    for (NamedChanges& set : block.sets) all(set.changes);
    for (Draw& draw : block.draws) all(draw.values);
    for (auto* conditions : {&block.exclude, &block.require})
      for (std::vector<Change>& changes : *conditions) all(changes);
  }
  if (sweep.tune)
    for (auto& [key, values] : sweep.tune->axes) all(values);
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
  const Config out = resolve(resolution);
  resolution.refuse_wrong_choice(out);
  return out;
}

Config Settings::resolve_for_part() const { return resolve(Resolution(*this)); }

Config Settings::resolve(const Resolution& resolution) const {
  resolution.problems.refuse();
  Config out = resolved_config(resolution);
  if (const auto start = start_checksums_.find(out.train.start);
      start != start_checksums_.end() && out.train.start_checksum.empty())
    out.train.start_checksum = start->second;
  return out;
}

std::vector<std::string> Settings::dropped() const { return Resolution(*this).dropped; }

FormulaTexts formula_texts(const View& view) {
  const auto text = [&](const char* key) -> std::string {
    if (unmet_dependency(key, values_of(view))) return "";
    return std::get<std::string>(view.at(key).value);
  };
  return {text("attention.score_mod"), text("attention.mask_mod"), text("attention.cross_score_mod"),
          text("attention.cross_mask_mod")};
}

bool acts_by_segments(const View& block) {
  const auto differs = [&](const std::string& key) {
    return !unmet_dependency(key, values_of(block)) && block.at(key).value != find_option(key)->default_value;
  };
  return is_recurrence(block) || differs("attention.convolution") || differs("attention.selection");
}

bool Resolution::uses_segments() const {
  return std::ranges::any_of(deciding_views(), [](const View* view) {
    return acts_by_segments(*view) || formulas_use_segments(view->parameters, formula_texts(*view));
  });
}

void Resolution::refuse_wrong_choice(const Config& config) const {
  std::map<std::string, Value> of_model;
  for (const std::string& key : all_keys())
    if (!belongs_to_blocks(key) && !unmet_dependency(key, values_of(run))) of_model[key] = run.at(key).value;
  const std::optional<WrongChoice> wrong = wrong_choice(config, of_model);
  if (!wrong) return;
  const View& block = blocks.at(std::min(wrong->stack, blocks.size() - 1)).at(wrong->block);
  const Origin* origin = nullptr;
  std::string choices;
  for (const std::string& key : wrong->options) {
    if (unmet_dependency(key, values_of(block))) continue; // the model decides it
    const Setting& setting = block.at(key);
    if (!origin || setting.origin.layer > origin->layer) origin = &setting.origin;
    choices += fmt::format("{}{}", choices.empty() ? "" : ", and ", shown(block, key));
  }
  if (wrong->options.empty()) // about numbers: the options that the sentence names
    for (const std::string& key : all_keys())
      if (const Setting& setting = block.at(key);
          setting.origin.layer > (origin ? origin->layer : 0) && wrong->why.find(key) != std::string::npos)
        origin = &setting.origin;
  std::string text = choices.empty() ? wrong->why : fmt::format("{}: {}", choices, wrong->why);
  if (origin) text = fmt::format("{}: {}", origin->text(), text);
  throw RefusedConfig(text, {text});
}

void Resolution::check_formulas() {
  std::vector<std::string> told; // problems that were reported; most blocks have the same ones
  each_block([&](const View& block) {
    const FormulaTexts texts = formula_texts(block);
    if (texts.none()) return;
    const bool causal = !unmet_dependency("attention.causal", values_of(block)) &&
                        std::get<bool>(block.at("attention.causal").value);
    const FormulaContext context{causal, std::get<std::string>(run.at("model.kind").value),
                                 std::get<std::string>(run.at(segment_end_key).value)};
    for (const FormulaProblem& problem : formula_problems(block.parameters, texts, context)) {
      const auto parameter = block.parameters.find(problem.key);
      // If the parameter has no setting of this option, use the origin of its first setting.
      const auto any = block.parameters.lower_bound(problem.key.substr(0, problem.key.rfind('.') + 1));
      const Origin& origin = parameter != block.parameters.end() ? parameter->second.origin
                             : parameter_option(problem.key)     ? any->second.origin
                                                                 : block.at(problem.key).origin;
      std::string line = fmt::format("{}: {}", origin.text(), problem.what);
      if (std::ranges::find(told, line) != told.end()) continue;
      problems.add(line);
      told.push_back(std::move(line));
    }
  });
}

void Settings::use_starts(const std::function<Start(const std::string& run)>& find) {
  const auto complete = [&](Value& value, const Origin& origin) {
    auto* run = std::get_if<std::string>(&value);
    if (!run || run->empty()) return;
    try {
      Start start = find(*run);
      start_checksums_[start.id] = start.checksum;
      *run = std::move(start.id);
    } catch (const Refused& error) {
      throw Refused(fmt::format("{}: {} = \"{}\": {}", origin.text(), start_option, *run, error.what()));
    }
  };
  if (const auto set = values_.find(start_option); set != values_.end())
    complete(set->second.value, set->second.origin);
  SweepSpec sweep = *sweep_;
  each_change(sweep, [&](Change& change) {
    if (change.key == start_option) complete(change.value, change.origin);
  });
  sweep_ = std::make_shared<const SweepSpec>(std::move(sweep));
}

} // namespace heed
