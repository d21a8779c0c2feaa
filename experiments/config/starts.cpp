// The runs from which others start ([train] start), by their full IDs and with their checksums.
#include "experiments/config/settings.hpp"

#include <fmt/format.h>
#include <utility>

namespace heed {

namespace {

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
