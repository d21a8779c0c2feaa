#include "experiments/sweep/groups.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace heed {
namespace {

/// Converts a value from TOML syntax to readable text.
std::string read_value(const std::string& toml) {
  const bool quoted = toml.size() >= 2 && toml.front() == '"' && toml.back() == '"';
  return quoted ? toml.substr(1, toml.size() - 2) : toml;
}

} // namespace

Groups::Groups(const std::vector<NamedOption>& within, const std::vector<std::string>& keys, const ArmNames& names)
    : within_(within) {
  for (const NamedOption& option : within) {
    if (std::find(keys.begin(), keys.end(), option.key) == keys.end())
      throw Refused(fmt::format("{}: sweep.within names {}, which no arm of the sweep changes, so there is only one "
                                "group; put it into a block's grid, or remove it from sweep.within",
                                option.origin.text(), option.key));
    options_.push_back({option.key, names.name_of(option.key)});
  }
}

bool Groups::is_shared(const Change& change) const {
  return std::any_of(within_.begin(), within_.end(),
                     [&](const NamedOption& option) { return option.key == change.key; });
}

std::vector<Change> Groups::shared(std::vector<Change> changes) const {
  std::erase_if(changes, [&](const Change& change) { return !is_shared(change); });
  return changes;
}

std::vector<Change> Groups::own(std::vector<Change> changes) const {
  std::erase_if(changes, [&](const Change& change) { return is_shared(change); });
  return changes;
}

std::vector<std::string> Groups::of(const FlatConfig& arm) const {
  std::vector<std::string> out;
  for (const NamedOption& option : within_) {
    const auto value = arm.find(option.key);
    if (value == arm.end())
      throw Refused(fmt::format("{}: sweep.within names {}, which has no effect in this arm, so the arm is in no group",
                                option.origin.text(), option.key));
    out.push_back(read_value(value->second));
  }
  return out;
}

std::string Groups::label(const std::vector<std::string>& values) const {
  std::vector<PlannedChange> named;
  for (std::size_t i = 0; i < values.size(); ++i) named.push_back({options_[i].name, values[i]});
  return in_words(named);
}

} // namespace heed
