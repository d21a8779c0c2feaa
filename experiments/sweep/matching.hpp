// Matches arms to the reference in parameters, FLOPs or the state of decoding ([sweep] match), by changing a width.
// Some variants add parameters, computation or memory, so a better result could come only from a larger model.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The option that matching sets.
/// @param by  parameters | flops | state, as everywhere here
constexpr std::string_view matched_option(std::string_view by) {
  return by == "state" ? "model.width" : "block.ffn_width";
}
/// "parameters", "FLOPs a step", "numbers of state".
std::string_view matched_unit(std::string_view by);

struct MatchedChanges {
  std::vector<Change> changes; ///< the arm's changes, followed by the width if it has to differ
  BudgetMatch matched;
};

/// Finds the widths with which arms match the reference's budget. Parameters and FLOPs are affine in the feed-forward
/// width, so two measurements determine the width, and a third one measures the result. The state grows with the
/// model's width: linearly for keys and values, mostly with its square for recurrences. So the width is searched for.
class Matcher {
public:
  Matcher(const Settings& reference, const CostOf& cost_of);

  /// Throws heed::Refused if the arm has no feed-forward layer or no state, if its width does not affect the budget,
  /// and if the arm sets the width.
  MatchedChanges match(const Settings& reference, const std::vector<Change>& changes, const std::string& by) const;

  /// The matched quantity: parameters, FLOPs per step, or numbers of the state.
  double amount_of(const Settings& arm, const std::string& by) const;

private:
  struct Arm;
  double amount_at(const Arm& arm, std::int64_t width) const;
  MatchedChanges by_feed_forward(const Arm& arm) const;
  MatchedChanges by_model_width(const Arm& arm) const;

  CostOf cost_of_;
  double target_ = 0; ///< the reference's amount
};

} // namespace heed
