#include "experiments/sweep/arm_labels.hpp"

#include "experiments/config/values.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace heed {
namespace {

std::string table_of(const std::string& key) {
  const auto dot = key.rfind('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// "score" for attention.score, "position" for position.kind.
std::string short_name(const std::string& key) {
  const std::string table = table_of(key);
  std::string last = table.empty() ? key : key.substr(table.size() + 1);
  if (last == "kind" && !table.empty()) last = table.substr(table.rfind('.') + 1); // npos + 1 is 0
  return spaced(last);
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

bool is_word(const Value& value) {
  if (const auto* either = std::get_if<WordOrNumber>(&value)) return !either->word.empty();
  return std::holds_alternative<std::string>(value);
}

bool differs(const Change& change, const FlatConfig& arm, const FlatConfig& reference) {
  const auto here = arm.find(change.key), there = reference.find(change.key);
  if (here == arm.end()) return false;
  return there == reference.end() || here->second != there->second;
}

} // namespace

FlatConfig flat_config(const Config& config) {
  FlatConfig flat;
  for (FlatOption& option : flatten(config)) flat[std::move(option.key)] = std::move(option.value);
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
  std::vector<std::string> parts;
  for (const Change& change : changes) {
    const bool inner = std::any_of(changes.begin(), changes.end(),
                                   [&](const Change& other) { return belongs_to(change, other); });
    if (inner) continue;
    std::string part = assignment(name_of(change.key), plain_text(change.value));
    bool shown = differs(change, arm, reference);
    for (const Change& other : changes) {
      if (!belongs_to(other, change) || !differs(other, arm, reference)) continue;
      part += is_word(other.value) ? fmt::format(", {}", plain_text(other.value))
                                   : fmt::format(", {} {}", short_name(other.key), plain_text(other.value));
      shown = true;
    }
    if (shown) parts.push_back(std::move(part));
  }
  if (parts.empty()) // the difference is not in the options that were set
    for (const Change& change : changes) parts.push_back(assignment(change.key, plain_text(change.value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace heed
