// Matches arms to the reference in parameters or FLOPs ([sweep] match), by changing the feed-forward width. Some
// variants add parameters and computation, so a better result could come only from a larger model.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The option that matching sets.
inline constexpr std::string_view width_option = "block.ffn_width";

struct MatchedChanges {
  std::vector<Change> changes; ///< the arm's changes, followed by the width if it has to differ
  BudgetMatch matched;
};

/// Finds the widths with which arms match the reference's budget. Parameters and FLOPs are affine in the width, so two
/// measurements determine the width, and a third one measures the result.
class Matcher {
public:
  Matcher(const Settings& reference, const CostOf& cost_of);

  /// @param by  parameters | flops
  /// Throws heed::Refused if the arm has no feed-forward layer, if its width does not affect the budget, and if the arm
  /// sets the width.
  MatchedChanges match(const Settings& reference, const std::vector<Change>& changes, const std::string& by) const;

  /// The matched quantity: parameters, or FLOPs per step.
  double amount_of(const Settings& arm, const std::string& by) const;

private:
  CostOf cost_of_;
  Cost reference_;
};

} // namespace heed
