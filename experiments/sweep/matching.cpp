#include "experiments/sweep/matching.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/sweep/labels.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed {
namespace {

double amount(const Cost& cost, const std::string& by) {
  return by == "parameters" ? static_cast<double>(cost.parameters) : cost.flops_per_step;
}

} // namespace

Matcher::Matcher(const Settings& reference, const CostOf& cost_of) : cost_of_(cost_of) {
  if (!cost_of_) throw Refused("sweep.match needs the cost of the arms");
  reference_ = cost_of_(reference.resolve());
}

double Matcher::amount_of(const Settings& arm, const std::string& by) const {
  return amount(cost_of_(arm.resolve()), by);
}

MatchedChanges Matcher::match(const Settings& reference, const std::vector<Change>& changes,
                              const std::string& by) const {
  const std::string key(width_option);
  const Origin& origin = reference.sweep().match_origin;
  for (const Change& change : changes)
    if (change.key == key)
      throw Refused(fmt::format("{}: the arm sets {}, which sweep.match = \"{}\" chooses; remove one of the two",
                                change.origin.text(), key, by));
  const Config config = reference.with(changes).resolve();
  const FlatConfig flat = flat_config(config);
  if (!flat.contains(key))
    throw Refused(fmt::format("{}: sweep.match = \"{}\" matches arms by the width of the feed-forward ({}), but "
                              "model.kind = \"{}\" has none; set sweep.match = \"none\", and compare the parameters in "
                              "the report",
                              origin.text(), by, key, config.model.kind));
  const auto with_width = [&](std::int64_t width) {
    std::vector<Change> all = changes;
    all.push_back({key, Value(width), origin});
    return all;
  };
  const auto measure = [&](std::int64_t width) {
    return amount(cost_of_(reference.with(with_width(width)).resolve()), by);
  };

  const double target = amount(reference_, by);
  const std::int64_t stated = std::stoll(flat.at(key));
  const std::int64_t here = stated > 0 ? stated : 4 * config.model.width;
  const double now = amount(cost_of_(config), by);
  const double slope = (measure(2 * here) - now) / static_cast<double>(here);
  if (!(slope > 0))
    throw Refused(fmt::format(
        "{}: sweep.match = \"{}\": {} changes nothing here, because every block has its own value ([[block.override]])",
        origin.text(), by, key));
  const double most = *find_option(width_option)->maximum;
  const auto width =
      static_cast<std::int64_t>(std::clamp(std::round(static_cast<double>(here) + (target - now) / slope), 1.0, most));
  if (width == here) return {changes, {here, now, target}};
  return {with_width(width), {width, measure(width), target}};
}

} // namespace heed
