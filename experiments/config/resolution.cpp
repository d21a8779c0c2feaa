#include "experiments/config/resolution.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "layers/layer_options.hpp"
#include "options/variant.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace heed {
namespace {

std::int64_t integer(const View& view, const std::string& key) { return std::get<std::int64_t>(view.at(key).value); }
double real(const View& view, const std::string& key) { return std::get<double>(view.at(key).value); }
bool flag(const View& view, const std::string& key) { return std::get<bool>(view.at(key).value); }
const std::string& text(const View& view, const std::string& key) { return std::get<std::string>(view.at(key).value); }

/// The origin that is shown for a problem with several options: that of the option that was set last.
const Origin& latest(const View& view, const std::vector<std::string>& keys) {
  const Origin* out = &view.at(keys.front()).origin;
  for (const std::string& key : keys)
    if (view.at(key).origin.layer > out->layer) out = &view.at(key).origin;
  return *out;
}

/// The divisors of n nearest to k, below and above, for the text of an error: "the nearest that do are 2 and 4".
std::string nearest_divisors(std::int64_t n, std::int64_t k) {
  std::int64_t below = 0, above = 0;
  for (std::int64_t d = 1; d <= n; ++d)
    if (n % d == 0) {
      if (d < k) below = d;
      if (d > k && above == 0) above = d;
    }
  if (below && above) return fmt::format("the nearest that divide it are {} and {}", below, above);
  return fmt::format("the nearest that does is {}", below ? below : above);
}

/// A setting that may have no effect, with the findings of all views that it applies to.
struct WrittenValue {
  const std::string* key;
  const Setting* setting;
  std::string name; ///< as it was written: the key, or "block[3].mixer.kind"
  bool does_something = false;
  bool chosen_otherwise_later = false; ///< in some view, a setting of a later layer is the reason why it has no effect
  std::string why;
  int replaced_by = 0; ///< the highest layer of the settings that replace it in some block

  WrittenValue(const std::string& k, const Setting& s) : key(&k), setting(&s), name(k) {}

  void idle(const std::string& reason, int layer_of_reason) {
    const bool later = layer_of_reason > setting->origin.layer;
    if (why.empty() || (later && !chosen_otherwise_later)) why = reason;
    chosen_otherwise_later |= later;
  }
};

Stacks stacks_of_model(const View& run) {
  const auto number = [&](const char* key) { return unmet_dependency(key, values_of(run)) ? 0 : integer(run, key); };
  Stacks out;
  for (const std::string& name : stacks_of(text(run, "model.kind")))
    out.all.push_back({name, number("model.layers"), "model.layers"});
  if (out.all.empty()) out.all.push_back({"", 1, "model.kind"});
  constexpr const char* second = "model.encoder_decoder.decoder_layers";
  if (number(second) > 0) out.all.back() = {out.all.back().name, number(second), second};
  return out;
}

bool is_of_positions(std::string_view key) { return key.starts_with("position."); }

bool adds_to_embeddings(const std::string& position_kind) {
  const std::vector<std::string> others = positions_of_blocks();
  return std::ranges::find(others, position_kind) == others.end();
}

/// True if the override chooses a positional scheme that adds to the token embeddings, which no block can have.
bool chooses_embedding(const BlockOverride& override) {
  const auto kind = override.values.find("position.kind");
  return kind != override.values.end() && adds_to_embeddings(std::get<std::string>(kind->second.value));
}

/// The number of shards of a configuration without train.shards. It depends on the shapes only, never on the machine,
/// because results depend on it. Each shard costs time to write and to add its gradients, and to call its operations,
/// even on one thread. With these numbers that is at most 2 % of a step's time. More threads than shards share the work
/// within operations (autograd/thread_pool.hpp).
std::int64_t default_shards(const View& run) {
  constexpr std::int64_t tokens_of_a_sequence = 32, all_sequences = 1'000'000; // estimates, where the data decides
  constexpr std::int64_t enough_work =
      1 << 17; // sequences times the width's square; measured: README's S has this much
  constexpr std::int64_t enough_sequences = 4 *
                                            32; // a recurrent model multiplies all sequences of a shard at each step
  const std::int64_t tokens = integer(run, "train.batch_tokens"), width = integer(run, "model.width");
  const bool sequences_by_task = tokens > 0 || flag(run, "train.full_batch");
  const std::int64_t sequences = tokens > 0          ? tokens / tokens_of_a_sequence
                                 : sequences_by_task ? all_sequences
                                                     : integer(run, "train.batch");
  const bool recurrent = text(run, "model.kind").starts_with("recurrent");
  const bool enough = sequences * width * width >= enough_work && (!recurrent || sequences >= enough_sequences);
  const std::int64_t shards = enough ? 4 : 2;
  return sequences_by_task ? shards : std::min(shards, sequences);
}

const Setting& setting_of(const View& view, const std::string& key) {
  const auto parameter = view.parameters.find(key);
  return parameter != view.parameters.end() ? parameter->second : view.at(key);
}

/// True if the view's value of an option comes from this setting and not from another one with higher priority.
bool decides(const View& view, const std::string& key, const Setting& setting) {
  const Setting& chosen = setting_of(view, key);
  const Origin &a = chosen.origin, &b = setting.origin;
  // All assignments of one command line have one origin.
  return a.layer == b.layer && a.line == b.line && a.column == b.column && a.file == b.file &&
         chosen.value == setting.value;
}

/// What messages call an override.
std::string named(const BlockOverride& override) { return override.key.empty() ? "[[block.override]]" : override.key; }

/// A parameter has an effect if a formula names it, and model.segment_end if a formula uses segments.
void judge_by_formulas(WrittenValue& candidate, const View& view, int at_least) {
  const FormulaTexts texts = formula_texts(view);
  const bool of_parameter = parameter_option(*candidate.key);
  if (of_parameter ? formulas_name(*candidate.key, view.parameters, texts)
                   : formulas_use_segments(view.parameters, texts)) {
    candidate.does_something = true;
    return;
  }
  const int layer = latest(view, {"attention.score_mod", "attention.mask_mod", "attention.cross_score_mod",
                                  "attention.cross_mask_mod"})
                        .layer;
  candidate.idle(of_parameter ? "no formula of [attention] names the parameter"
                              : "no formula of [attention] uses segment_i or segment_j",
                 std::max(at_least, layer));
}

/// The dependency that explains why an option of this layer has no effect. The choice that it needs may have no effect
/// itself (train.optimizer, if train.steps is 0). The explanation is then the unmet dependency of that choice if the
/// choice is made as needed, or if nobody made it: making it would only move the error to the choice. If a later layer
/// disables a choice that nobody made, the option's own layer is already wrong without it.
const OptionCondition* cause_of(const OptionCondition* unmet, const View& view, int layer) {
  const OptionCondition* deeper = unmet ? unmet_dependency(unmet->on, values_of(view)) : nullptr;
  if (!deeper) return unmet;
  const OptionCondition* cause = cause_of(deeper, view, layer);
  const Setting& choice = view.at(unmet->on);
  if (is_listed(unmet->words, choice.value)) return cause;
  const bool helps = std::ranges::any_of(unmet->others, [&](const OptionCondition& other) {
    return !unmet_dependency(other.on, values_of(view));
  });
  return choice.origin.layer == 0 && view.at(cause->on).origin.layer <= layer && !helps ? cause : unmet;
}

/// @param at_least  the minimum layer of the other settings that decide whether the view applies
void judge(WrittenValue& candidate, const View& view, int at_least = 0) {
  const bool of_parameter = parameter_option(*candidate.key);
  const std::string_view key = of_parameter ? formula_parameters_key : std::string_view(*candidate.key);
  const OptionCondition* unmet = cause_of(unmet_dependency(key, values_of(view)), view,
                                          candidate.setting->origin.layer);
  if (!unmet && (of_parameter || (key == segment_end_key && !acts_by_segments(view))))
    return judge_by_formulas(candidate, view, at_least);
  if (!unmet) {
    candidate.does_something = true;
    return;
  }
  int layer = std::max(at_least, view.at(unmet->on).origin.layer);
  for (const OptionCondition& other : unmet->others) layer = std::max(layer, view.at(other.on).origin.layer);
  candidate.idle(fmt::format("{}; it {}", shown(view, unmet->on), dependency_in_words(*unmet)), layer);
}

/// True if the blocks have the same options.
bool all_alike(const std::vector<View>& stack) {
  return std::ranges::all_of(stack, [&](const View& block) {
    return std::ranges::all_of(all_keys(), [&](const std::string& key) {
      return !belongs_to_blocks(key) || block.at(key).value == stack.front().at(key).value;
    });
  });
}

} // namespace

std::string shown(const View& view, const std::string& key) {
  const Setting& s = view.at(key);
  const bool worded = std::holds_alternative<std::string>(s.value) || std::holds_alternative<WordOrNumber>(s.value);
  const std::string word = worded ? choice_word(s.value) : "";
  const bool is_word = std::holds_alternative<std::string>(s.value) || !word.empty();
  return fmt::format("{} is {} ({})", key, is_word ? "'" + word + "'" : value_text(s.value), s.origin.text());
}

bool is_recurrence(const View& block) {
  return !unmet_dependency("mixer.kind", values_of(block)) && text(block, "mixer.kind") != "attention";
}

Resolution::Resolution(const Settings& settings) : settings_(settings) {
  run = view(settings.values_);
  stacks = stacks_of_model(run);
  for (std::size_t stack = 0; stack < stacks.all.size(); ++stack) {
    blocks.emplace_back();
    for (std::int64_t block = 0; block < stacks.all[stack].blocks; ++block)
      blocks.back().push_back(block_view(stack, block));
  }
  find_idle_settings();
  check_combinations();
}

View Resolution::block_view(std::size_t stack, std::int64_t block) const {
  View own = run;
  std::map<std::string, Setting> set = settings_.values_;
  const bool positions = refuses_positions().empty();
  bool overridden = false, with_position = false;
  for (const BlockOverride& override : settings_.block_overrides_) {
    if (!stacks.means(override, stack, block)) continue;
    overridden = true;
    for (const auto& [key, setting] : override.values)
      if (!is_of_positions(key) || (positions && !chooses_embedding(override))) {
        set[key] = setting;
        with_position = with_position || is_of_positions(key);
      }
  }
  if (!overridden) return own;
  View with_overrides = view(set);
  // What a block's mixer presets for positions is for models that have it in all blocks.
  for (const std::string& key : all_keys())
    if (belongs_to_blocks(key) && (with_position || !is_of_positions(key)))
      own.at(key) = std::move(with_overrides.at(key));
  own.parameters = std::move(with_overrides.parameters);
  return own;
}

std::vector<const View*> Resolution::deciding_views() const {
  if (settings_.block_overrides_.empty()) return {&run};
  std::vector<const View*> out;
  each_block([&](const View& block) { out.push_back(&block); });
  return out;
}

std::string Resolution::refuses_positions() const {
  if (unmet_dependency("position.kind", values_of(run)) || !adds_to_embeddings(text(run, "position.kind"))) return "";
  return fmt::format(
      "{}, which adds to the token embeddings and so belongs to the whole model; blocks can differ where "
      "position.kind is one of {}",
      shown(run, "position.kind"), list_in_words(positions_of_blocks()));
}

View Resolution::view(const std::map<std::string, Setting>& set) const {
  static const View built_in = [] {
    View out;
    for (const std::string& key : all_keys()) out.at(key).value = find_option(key)->default_value;
    return out;
  }();
  View defaults = built_in;
  if (!settings_.file_name_.empty()) defaults.at("name").value = settings_.file_name_;
  for (const auto& [key, origin] : settings_.resets_)
    if (!parameter_option(key)) defaults.at(key).origin = origin;

  auto with_set = [&](View base) {
    for (const auto& [key, setting] : set) (parameter_option(key) ? base.parameters[key] : base.at(key)) = setting;
    return base;
  };
  // The presets of a chosen variant may choose further variants. There are at most as many steps as families.
  View out = with_set(defaults);
  std::vector<std::pair<const Variant*, int>> before; // with the layer of the choice, which its presets inherit
  for (std::size_t step = 0; step <= family_places().size(); ++step) {
    std::vector<std::pair<const Variant*, int>> chosen;
    for (const FamilyPlace& place : family_places()) {
      const Setting& choice = out.at(place.key);
      if (const Variant* variant = find_variant(place.family, choice.value); variant && !variant->presets.empty())
        chosen.emplace_back(variant, choice.origin.layer);
    }
    if (chosen == before) break;
    View base = defaults;
    for (const FamilyPlace& place : family_places())
      if (const Variant* variant = find_variant(place.family, out.at(place.key).value))
        for (const auto& [key, value] : variant->presets) {
          const Origin& chooser = out.at(place.key).origin;
          Setting& preset = base.at(key);
          preset = {value, chooser.layer > preset.origin.layer ? chooser : preset.origin};
        }
    out = with_set(std::move(base));
    before = std::move(chosen);
  }
  out.at(formula_parameters_key).value = parameter_lines(out.parameters, formula_texts(out));
  return out;
}

void Resolution::check_override(const BlockOverride& override) {
  const auto refuse = [&](const std::string& why, const std::string& key) {
    const std::string line = fmt::format("{}: {}", override.origin.text(), why);
    if (run.at(key).origin.layer > override.origin.layer) dropped.push_back(line);
    else problems.add(line);
  };
  if (!override.stack.empty() && !stacks.has(override.stack))
    return refuse(fmt::format("{} names the {}, but {}, and that model has none", named(override), override.stack,
                              shown(run, "model.kind")),
                  "model.kind");
  const Stack& stack = stacks.counted(override);
  for (const std::int64_t block : stacks.missing(override))
    refuse(fmt::format("{} names block {}{}, but {}: {}blocks are 0 to {}", named(override), block,
                       override.stack.empty() ? "" : " of the " + override.stack, shown(run, stack.count_key),
                       override.stack.empty() ? "" : "its ", stack.blocks - 1),
           stack.count_key);
  if (override.layers.empty() && stacks.missing(override).empty() && !stacks.means_any(override))
    refuse(fmt::format("[[block.override]] with from = {} and every = {} means no block: {}, and blocks are counted "
                       "from 0",
                       override.from, override.every, shown(run, stack.count_key)),
           stack.count_key);
  if (chooses_embedding(override)) {
    const Setting& kind = override.values.at("position.kind");
    problems.add(
        fmt::format("{}: position.kind is '{}', which adds to the token embeddings and so belongs to the whole "
                    "model: set it in [position]. A block can have one of {}",
                    kind.origin.text(), std::get<std::string>(kind.value), list_in_words(positions_of_blocks())));
  }
}

void Resolution::find_idle_settings() {
  std::vector<WrittenValue> candidates;
  // With overrides, a smaller number of blocks may be the reason why a setting has no effect.
  const int layer_of_count = settings_.block_overrides_.empty() ? 0 : run.at(stacks.all.front().count_key).origin.layer;
  const bool keys = std::ranges::any_of(settings_.block_overrides_, [](const auto& o) { return !o.key.empty(); });
  // Judges a setting in the blocks that it applies to.
  const auto judge_in_blocks = [&](WrittenValue& c, const BlockOverride* override, int at_least) {
    for (std::size_t stack = 0; stack < blocks.size(); ++stack)
      for (std::size_t block = 0; block < blocks[stack].size(); ++block) {
        const View& view = blocks[stack][block];
        const auto number = static_cast<std::int64_t>(block);
        if (override && !stacks.means(*override, stack, number)) continue;
        if (!decides(view, *c.key, *c.setting))
          c.replaced_by = std::max(c.replaced_by, setting_of(view, *c.key).origin.layer);
        else if (stacks.reads(stack, *c.key)) judge(c, view, at_least);
        else if (override && c.why.empty()) c.idle("only the decoder has cross attention", override->origin.layer);
      }
  };
  for (const auto& [key, setting] : settings_.values_) {
    WrittenValue c(key, setting);
    if (belongs_to_blocks(key)) judge_in_blocks(c, nullptr, layer_of_count);
    else
      for (const View* view : deciding_views())
        if (!c.does_something) judge(c, *view);
    if (!c.does_something && c.why.empty())
      c.idle(keys ? "every block has its own value" : "every block has its own in [[block.override]]",
             std::max(layer_of_count, c.replaced_by));
    candidates.push_back(std::move(c));
  }
  const std::string no_positions = refuses_positions();
  for (const BlockOverride& override : settings_.block_overrides_) {
    check_override(override);
    if (!stacks.means_any(override)) continue;
    for (const auto& [key, setting] : override.values) {
      if (is_of_positions(key) && chooses_embedding(override)) continue; // a problem by itself
      WrittenValue c(key, setting);
      if (!override.key.empty()) c.name = override.key;
      if (is_of_positions(key) && !no_positions.empty()) c.idle(no_positions, run.at("position.kind").origin.layer);
      else judge_in_blocks(c, &override, 0);
      if (!c.does_something && c.why.empty())
        c.idle(keys ? "a later setting sets it for the same blocks"
                    : "a later [[block.override]] sets it for the same blocks",
               std::max(override.origin.layer, c.replaced_by));
      candidates.push_back(std::move(c));
    }
  }
  for (const WrittenValue& c : candidates) {
    if (c.does_something) continue;
    const Origin& origin = c.setting->origin;
    if (c.chosen_otherwise_later)
      dropped.push_back(fmt::format("{} = {} ({}) is dropped: {}", c.name, value_text(c.setting->value), origin.text(),
                                    c.why));
    else problems.add(fmt::format("{}: {} does nothing: {}", origin.text(), c.name, c.why));
  }
}

void Resolution::check_combinations() {
  const bool widened = !unmet_dependency("position.concat", values_of(run)) && text(run, "position.concat") == "widen";
  const std::int64_t model_width = integer(run, "model.width"), position_width = integer(run, "position.width");
  const std::int64_t width = model_width + (widened ? (position_width ? position_width : model_width) : 0);
  const std::int64_t heads = integer(run, "model.heads");
  if (const std::string why = wrong_heads(heads, width);
      !why.empty() && !unmet_dependency("model.heads", values_of(run)))
    problems.add(fmt::format("{}: {}{}; {}", latest(run, {"model.heads", "model.width", "position.width"}).text(), why,
                             widened ? fmt::format(" (model.width {} and concatenated positions)", model_width)
                                     : " (model.width)",
                             nearest_divisors(width, heads)));

  std::vector<const View*> all;
  each_block([&](const View& block) { all.push_back(&block); });
  for (const View* view : all) {
    const View& block = *view;
    const std::int64_t shared = integer(block, "attention.key_value_heads");
    const std::string why = wrong_key_value_heads(shared, heads);
    if (why.empty() || unmet_dependency("attention.key_value_heads", values_of(block))) continue;
    problems.add(fmt::format("{}: {}; {}", latest(block, {"attention.key_value_heads", "model.heads"}).text(), why,
                             nearest_divisors(heads, shared)));
    break;
  }

  if (const Setting& kind = run.at("position.kind");
      !adds_to_embeddings(text(run, "position.kind")) && text(run, "position.kind") != "none" &&
      std::ranges::all_of(all, [](const View* block) { return is_recurrence(*block); }))
    problems.add(
        fmt::format("{}: {}, which acts within attention, and no block has attention ({}): choose position.kind = "
                    "\"none\", or mixer.position = \"rotary\" for queries and keys of a recurrence",
                    kind.origin.text(), shown(run, "position.kind"), shown(*all.front(), "mixer.kind")));

  if (const Setting& shared = run.at("model.shared_layers"); std::get<bool>(shared.value) &&
                                                             !unmet_dependency("model.shared_layers", values_of(run)) &&
                                                             !std::ranges::all_of(blocks, all_alike))
    problems.add(fmt::format("{}: model.shared_layers is true, but {} ({}) gives blocks options of their own; blocks "
                             "that share their parameters must have the same options: leave one of the two out",
                             shared.origin.text(), named(settings_.block_overrides_.front()),
                             settings_.block_overrides_.front().origin.text()));

  const double train = real(run, "data.train"), test = real(run, "data.test");
  const bool both = !unmet_dependency("data.train", values_of(run)) && !unmet_dependency("data.test", values_of(run));
  if (both && train + test > 1.0 - 1e-9)
    problems.add(fmt::format("{}: data.train is {} and data.test is {}, so the validation split would be empty; their "
                             "sum must be below 1",
                             latest(run, {"data.train", "data.test"}).text(), train, test));

  check_formulas();

  if (!settings_.values_.contains("train.shards")) run.at("train.shards").value = default_shards(run);
  const bool sequences_by_task = integer(run, "train.batch_tokens") > 0 || flag(run, "train.full_batch");
  if (!sequences_by_task && integer(run, "train.shards") > integer(run, "train.batch"))
    problems.add(fmt::format("{}: train.shards is {}, but train.batch is {}: a shard must have at least one sequence",
                             latest(run, {"train.shards", "train.batch"}).text(), integer(run, "train.shards"),
                             integer(run, "train.batch")));
}

} // namespace heed
