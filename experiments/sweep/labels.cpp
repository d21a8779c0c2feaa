#include "experiments/sweep/labels.hpp"

#include "experiments/config/block_keys.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace heed {
namespace {

std::string table_of(const std::string& key) {
  const auto dot = key.rfind('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

/// "score" for attention.score, "position" for position.kind. Of a block's key: of the option in it.
std::string name_in_table(const std::string& key) {
  if (names_block(key)) return name_in_table(std::get<BlockKey>(read_block_key(key)).option);
  const std::string table = table_of(key);
  std::string last = table.empty() ? key : key.substr(table.size() + 1);
  if (last == "kind" && !table.empty()) last = table.substr(table.rfind('.') + 1); // npos + 1 is 0
  return spaced(last);
}

/// The same, with the block in front: "block 3: position".
std::string short_name(const std::string& key) {
  return (names_block(key) ? block_in_words(std::get<BlockKey>(read_block_key(key))) : "") + name_in_table(key);
}

bool is_kind(const std::string& key) { return key.ends_with(".kind"); }

/// Whether `inner` is an option of the component that `outer` chooses: position.width of position.kind,
/// attention.cosine.temperature of attention.score = "cosine".
bool belongs_to(const Change& inner, const Change& outer) {
  if (&inner == &outer) return false;
  const std::string table = table_of(inner.key);
  if (is_kind(outer.key) && table == table_of(outer.key)) return true;
  return std::holds_alternative<std::string>(outer.value) && !table_of(outer.key).empty() &&
         table == table_of(outer.key) + "." + std::get<std::string>(outer.value);
}

/// "score = dot"; for an empty text, "no path".
std::string assignment(const std::string& name, const std::string& text) {
  return text.empty() ? "no " + name : fmt::format("{} = {}", name, text);
}

/// The parts of a label. Blocks with the same part share it: "blocks 0, 3: mixer = attention".
class LabelParts {
public:
  /// @param name  the name at the part's start, which begins with the block where the key names one
  void add(const std::string& key, const std::string& name, std::string text) {
    if (!names_block(key) || name != short_name(key) || !text.starts_with(name)) {
      parts_.push_back({"", {}, std::move(text)});
      return;
    }
    const BlockKey block = std::get<BlockKey>(read_block_key(key));
    text.erase(0, block_in_words(block).size());
    const auto same = std::ranges::find_if(parts_, [&](const Part& part) {
      return !part.blocks.empty() && part.stack == block.stack && part.text == text;
    });
    if (same == parts_.end()) parts_.push_back({block.stack, {block.block}, std::move(text)});
    else same->blocks.push_back(block.block);
  }

  bool empty() const { return parts_.empty(); }

  std::string text() const {
    return joined(parts_, ", ", [](const Part& part) {
      if (part.blocks.empty()) return part.text;
      return fmt::format("{}{}block{} {}: {}", part.stack, part.stack.empty() ? "" : " ",
                         part.blocks.size() > 1 ? "s" : "", fmt::join(part.blocks, ", "), part.text);
    });
  }

private:
  struct Part {
    std::string stack;
    std::vector<std::int64_t> blocks; ///< empty: the text has the whole name
    std::string text;
  };
  std::vector<Part> parts_;
};

bool is_word(const Value& value) {
  if (const auto* either = std::get_if<WordOrNumber>(&value)) return !either->word.empty();
  return std::holds_alternative<std::string>(value);
}

bool differs(const Change& change, const FlatConfig& arm, const FlatConfig& reference) {
  const auto here = arm.find(change.key), there = reference.find(change.key);
  if (here == arm.end()) return false;
  return there == reference.end() || here->second != there->second;
}

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::vector<std::string> metrics_shown(const Config& reference, const Plan& plan) {
  std::vector<std::string> out{plan.metric};
  for (const std::string& also : plan.also) add_name(out, also);
  if (const auto goal = steps_to(plan.metric)) add_name(out, goal->metric);
  if (plan.arms.size() == 1)
    for (const Metric& metric : metrics_of(reference))
      if (!metric.length) add_name(out, metric.name);
  return out;
}

std::vector<std::string> arms_shown(const Plan& plan) {
  std::vector<std::string> out;
  if (plan.arms.size() == 1) return out;
  for (std::size_t i = 0; i < plan.arms.size(); ++i) {
    const Arm& arm = plan.arms[i];
    add_name(out, arm.reference == i ? "reference" : arm.name.empty() ? arm.label : arm.name);
  }
  return out;
}

/// Refuses a label that another of these names has as well, or that is the name of another.
void check_distinct(const std::map<std::string, Setting>& labels, const std::vector<std::string>& names) {
  const auto shown = [&](const std::string& name) {
    const auto label = labels.find(name);
    return label == labels.end() ? name : std::get<std::string>(label->second.value);
  };
  for (const std::string& name : names)
    for (const std::string& other : names)
      if (labels.contains(name) && other != name && shown(other) == shown(name))
        throw Refused(
            fmt::format("{}: [report.label] gives \"{}\" the name {}, which \"{}\" has already; choose another text",
                        labels.at(name).origin.text(), name, toml_string(shown(name)), other));
}

} // namespace

FlatConfig flat_config(const Config& config) {
  FlatConfig flat;
  for (FlatOption& option : flatten(config)) flat[std::move(option.key)] = std::move(option.value);
  return flat;
}

FlatConfig flat_config(const Config& config, const std::vector<std::string>& keys) {
  FlatConfig flat = flat_config(config);
  if (std::ranges::find(keys, override_key) != keys.end()) {
    std::string of_blocks;
    for (const auto& [key, value] : flat)
      if (names_block(key)) of_blocks += fmt::format("{} = {}\n", key, value);
    flat[std::string(override_key)] = std::move(of_blocks);
  }
  add_block_values(config, keys, flat);
  return flat;
}

std::string plain_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* either = std::get_if<WordOrNumber>(&value); either && !either->word.empty()) return either->word;
  return value_text(value);
}

std::vector<Change> differing(const std::vector<Change>& changes, const FlatConfig& arm, const FlatConfig& reference) {
  std::vector<Change> out;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(out),
               [&](const Change& change) { return differs(change, arm, reference); });
  return out;
}

ArmNames::ArmNames(const std::vector<std::string>& keys) {
  for (const std::string& key : std::set<std::string>(keys.begin(), keys.end())) ++uses_[short_name(key)];
}

std::string ArmNames::name_of(const std::string& key) const {
  const auto it = uses_.find(short_name(key));
  return it != uses_.end() && it->second > 1 ? key : short_name(key);
}

std::string ArmNames::values(const std::vector<std::string>& keys, const FlatConfig& config) const {
  std::vector<std::string> parts;
  for (const std::string& key : keys) {
    const auto found = config.find(key);
    if (found == config.end()) continue;
    std::string text = found->second; // as TOML writes it
    if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    parts.push_back(assignment(name_of(key), text));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ArmNames::label(const std::vector<Change>& changes, const FlatConfig& arm,
                            const FlatConfig& reference) const {
  LabelParts parts;
  for (const Change& change : changes) {
    const bool inner = std::any_of(changes.begin(), changes.end(),
                                   [&](const Change& other) { return belongs_to(change, other); });
    if (inner) continue;
    const bool list = change.key == override_key && !change.overrides.empty();
    std::string part = list ? "override: " + plain_text(change.value)
                            : assignment(name_of(change.key), plain_text(change.value));
    bool shown = differs(change, arm, reference);
    for (const Change& other : changes) {
      if (!belongs_to(other, change) || !differs(other, arm, reference)) continue;
      part += is_word(other.value) ? fmt::format(", {}", plain_text(other.value))
                                   : fmt::format(", {} {}", name_in_table(other.key), plain_text(other.value));
      shown = true;
    }
    if (shown) parts.add(change.key, list ? "override" : name_of(change.key), std::move(part));
  }
  if (parts.empty()) // the difference is not in the options that were set
    for (const Change& change : changes)
      parts.add(change.key, change.key, assignment(change.key, plain_text(change.value)));
  return parts.text();
}

std::string reference_values(const Plan& plan, const Config& reference) {
  std::vector<std::string> all, changed;
  for (const Arm& arm : plan.arms)
    for (const PlannedChange& change : arm.changes) {
      all.push_back(change.key);
      const auto is_it = [&](const PlannedOption& option) { return option.key == change.key; };
      if (std::ranges::none_of(plan.within, is_it) && change.key != override_key &&
          std::ranges::find(changed, change.key) == changed.end())
        changed.push_back(change.key);
    }
  return without_controls(ArmNames(all).values(changed, flat_config(reference, changed)));
}

std::string reference_name(const Plan& plan, const Config& reference) {
  if (!plan.reference_name.empty()) return fmt::format("{} (reference)", without_controls(plan.reference_name));
  const std::string values = reference_values(plan, reference);
  return values.empty() || values.size() > longest_in_name ? "reference" : fmt::format("reference ({})", values);
}

std::vector<std::string> named_labels(const Plan& plan, const Config& reference) {
  const std::string name = reference_name(plan, reference);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < plan.arms.size(); ++i) {
    const Arm& arm = plan.arms[i];
    out.push_back(arm.label);
    if (arm.reference != i || plan.arms.size() == 1) continue;
    const bool grouped = !arm.name.empty() && arm.label.ends_with(arm.name);
    out.back() = (grouped ? arm.label.substr(0, arm.label.size() - arm.name.size()) : "") + name;
  }
  return out;
}

std::map<std::string, std::string> checked_labels(const Settings& settings, const Config& reference, const Plan& plan) {
  const std::map<std::string, Setting>& labels = settings.report_labels();
  std::map<std::string, std::string> out;
  if (labels.empty()) return out;
  const std::vector<std::string> metrics = metrics_shown(reference, plan), arms = arms_shown(plan);
  std::vector<std::string> names = metrics;
  names.insert(names.end(), arms.begin(), arms.end());
  for (const auto& [name, label] : labels) {
    if (std::ranges::find(names, name) == names.end()) {
      const std::string near = did_you_mean(name, names);
      throw Refused(fmt::format("{}: [report.label] names '{}', which is neither a metric of this report nor an arm{}",
                                label.origin.text(), name,
                                near.empty() ? "; there are " + list_in_words(names) : near));
    }
    out[name] = std::get<std::string>(label.value);
  }
  check_distinct(labels, metrics);
  check_distinct(labels, arms);
  return out;
}

std::string size_in_words(const Plan& plan) {
  const std::string runs = counted(plan.runs.size(), "run");
  if (plan.runs.size() == 1 && !plan.tuning && !plan.variation) return runs;
  std::string text = fmt::format("{}: {}, {}", runs, counted(plan.arms.size(), "arm"),
                                 counted(plan.seeds.size(), "seed"));
  if (plan.tuning)
    text += fmt::format("; before them {}: {} of each arm, {}", counted(plan.tuning->runs.size(), "tuning run"),
                        counted(plan.tuning->arms.front().trials.size(), "trial"),
                        counted(plan.tuning->seeds.size(), "seed"));
  if (plan.variation)
    text += fmt::format("; and {} that vary {}", counted(plan.variation->runs.size(), "run"),
                        fmt::join(plan.variation->sources, ", "));
  return text;
}

} // namespace heed
