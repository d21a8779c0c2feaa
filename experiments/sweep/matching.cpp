#include "experiments/sweep/matching.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/models/model.hpp"
#include "experiments/sweep/labels.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>

namespace heed {
namespace {

/// Why the model of a configuration stores nothing between tokens.
std::string why_no_state(const Config& config) {
  return gives_class(f32::model_info(config.model.kind).format)
             ? fmt::format("model.kind = \"{}\" predicts a class", config.model.kind)
             : "some attention reads later tokens (attention.causal, attention.prefix)";
}

double amount(const Config& config, const Cost& cost, const std::string& by, const Origin& origin) {
  if (by == "parameters") return static_cast<double>(cost.parameters);
  if (by == "flops") return cost.flops_per_step;
  if (!cost.state_size)
    throw Refused(fmt::format("{}: sweep.match = \"state\" matches arms by what decoding stores, and a model stores "
                              "nothing here: {}; set sweep.match = \"none\"",
                              origin.text(), why_no_state(config)));
  return static_cast<double>(*cost.state_size);
}

/// The multiple of a step of widths at which an increasing function of the width comes nearest to a target.
class NearestWidth {
public:
  using Amount = std::function<std::optional<double>(std::int64_t width)>;

  /// @param amount  at a width, which is above 0 at `here`; empty: the model cannot have this width
  NearestWidth(std::int64_t here, std::int64_t most, double target, const Amount& amount)
      : here_(here), most_(most), target_(target), amount_(amount) {}

  struct Found {
    std::int64_t width = 0;
    double amount = 0;
  };
  /// Empty: no greater width changes the amount.
  std::optional<Found> find() {
    const double now = *at(here_);
    if (now == target_) return Found{here_, now};
    const std::int64_t step = step_of_widths();
    const std::optional<double> twice = at(2 * here_);
    if (twice && !(*twice > now)) return std::nullopt;
    double power = twice ? std::log2(*twice / now) : 1;
    std::int64_t low = 0, high = most_ / step + 1; // multiples of the step: too small, and large enough
    Found last{here_, now};
    (now < target_ ? low : high) = here_ / step;
    // Mostly the amount is about c width^power. Bisection ends the search if it is not.
    constexpr int most_guesses = 8;
    for (int guess = 0; high - low > 1; ++guess) {
      const double width = static_cast<double>(last.width) * std::pow(target_ / last.amount, 1 / power);
      const double multiple = std::min(width / static_cast<double>(step), static_cast<double>(most_));
      const std::int64_t next = guess < most_guesses ? std::clamp(std::llround(multiple), low + 1LL, high - 1LL)
                                                     : low + (high - low) / 2;
      const std::optional<double> amount = at(next * step);
      if (amount == target_) return Found{next * step, target_};
      (amount ? *amount < target_ : next * step < here_) ? low = next : high = next;
      if (!amount) continue;
      const double slope = std::log(*amount / last.amount) /
                           std::log(static_cast<double>(next * step) / static_cast<double>(last.width));
      if (slope > 0) power = slope;
      last = {next * step, *amount};
    }
    return nearest();
  }

private:
  std::optional<double> at(std::int64_t width) {
    const auto known = known_.find(width);
    return known != known_.end() ? known->second : known_.emplace(width, amount_(width)).first->second;
  }

  /// Widths must be multiples of numbers such as that of the heads. All of these divide `here`, and the smallest step
  /// from it that the model can take.
  std::int64_t step_of_widths() {
    for (std::int64_t step = 1; step < here_; ++step)
      if (here_ % step == 0 && here_ + step <= most_ && at(here_ + step)) return step;
    return here_;
  }

  Found nearest() const {
    Found out;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [width, amount] : known_)
      if (amount && std::abs(*amount - target_) < least) {
        least = std::abs(*amount - target_);
        out = {width, *amount};
      }
    return out;
  }

  std::int64_t here_, most_;
  double target_;
  const Amount& amount_;
  std::map<std::int64_t, std::optional<double>> known_;
};

std::int64_t most_of(std::string_view option) { return static_cast<std::int64_t>(*find_option(option)->maximum); }

} // namespace

std::string_view matched_unit(std::string_view by) {
  return by == "flops" ? "FLOPs a step" : by == "state" ? "numbers of state" : "parameters";
}

/// An arm whose width is to be found.
struct Matcher::Arm {
  const Settings& reference;
  const std::vector<Change>& changes;
  const std::string& by;
  std::string option = std::string(matched_option(by));
  Origin origin = reference.sweep().match_origin;
  Config config = reference.with(changes).resolve();

  std::vector<Change> with(std::int64_t width) const {
    std::vector<Change> all = changes;
    all.push_back({option, Value(width), origin});
    return all;
  }
};

Matcher::Matcher(const Settings& reference, const CostOf& cost_of) : cost_of_(cost_of) {
  if (!cost_of_) throw Refused("sweep.match needs the cost of the arms");
  const Config config = reference.resolve();
  target_ = amount(config, cost_of_(config), reference.sweep().match, reference.sweep().match_origin);
}

double Matcher::amount_of(const Settings& arm, const std::string& by) const {
  const Config config = arm.resolve();
  return amount(config, cost_of_(config), by, arm.sweep().match_origin);
}

MatchedChanges Matcher::match(const Settings& reference, const std::vector<Change>& changes,
                              const std::string& by) const {
  const Arm arm{reference, changes, by};
  for (const Change& change : changes)
    if (change.key == arm.option)
      throw Refused(fmt::format("{}: the arm sets {}, which sweep.match = \"{}\" chooses; remove one of the two",
                                change.origin.text(), arm.option, by));
  return by == "state" ? by_model_width(arm) : by_feed_forward(arm);
}

double Matcher::amount_at(const Arm& arm, std::int64_t width) const {
  return amount_of(arm.reference.with(arm.with(width)), arm.by);
}

MatchedChanges Matcher::by_feed_forward(const Arm& arm) const {
  const FlatConfig flat = flat_config(arm.config);
  if (!flat.contains(arm.option))
    throw Refused(fmt::format("{}: sweep.match = \"{}\" matches arms by the width of the feed-forward ({}), but "
                              "model.kind = \"{}\" has none; set sweep.match = \"none\", and compare the parameters in "
                              "the report",
                              arm.origin.text(), arm.by, arm.option, arm.config.model.kind));
  const std::int64_t stated = std::stoll(flat.at(arm.option));
  const std::int64_t here = stated > 0 ? stated : 4 * arm.config.model.width;
  const double now = amount_of(arm.reference.with(arm.changes), arm.by);
  const double slope = (amount_at(arm, 2 * here) - now) / static_cast<double>(here);
  if (!(slope > 0))
    throw Refused(fmt::format(
        "{}: sweep.match = \"{}\": {} changes nothing here, because every block has its own value ([[block.override]])",
        arm.origin.text(), arm.by, arm.option));
  const double most = static_cast<double>(most_of(arm.option));
  const auto width =
      static_cast<std::int64_t>(std::clamp(std::round(static_cast<double>(here) + (target_ - now) / slope), 1.0, most));
  if (width == here) return {arm.changes, {here, now, target_}};
  return {arm.with(width), {width, amount_at(arm, width), target_}};
}

MatchedChanges Matcher::by_model_width(const Arm& arm) const {
  const std::int64_t here = arm.config.model.width;
  const NearestWidth::Amount at = [&](std::int64_t width) -> std::optional<double> {
    if (width == here) return amount_of(arm.reference.with(arm.changes), arm.by);
    try {
      return amount_at(arm, width);
    } catch (const Refused&) { // such as a width that the heads do not divide
      return std::nullopt;
    }
  };
  const auto found = NearestWidth(here, most_of(arm.option), target_, at).find();
  if (!found)
    throw Refused(fmt::format("{}: sweep.match = \"{}\": {} does not change the size of the state here, because other "
                              "options state the widths of the heads; leave them at their defaults, or set "
                              "sweep.match = \"none\"",
                              arm.origin.text(), arm.by, arm.option));
  if (found->width == here) return {arm.changes, {here, found->amount, target_}};
  return {arm.with(found->width), {found->width, found->amount, target_}};
}

} // namespace heed
