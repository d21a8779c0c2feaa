// Evening out arms: some scores add weights and work, so that a better score may only be a bigger model. The width of
// the feed-forward gives back what an arm has more than the reference, or less.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The option that evening out sets.
inline constexpr std::string_view width_option = "block.ffn_width";

struct MatchedChanges {
  std::vector<Change> changes; ///< the arm's, and the width after them where it has to differ
  BudgetMatch matched;
};

/// Finds widths that bring arms to what the reference has. Both counts are affine in the width, so two measurements
/// tell the width, and a third what it comes to.
class Matcher {
public:
  Matcher(const Settings& reference, const CostOf& cost_of);

  /// @param by  parameters | flops
  /// Throws heed::Refused where the arm has no feed-forward, where its width does not count, and where the arm sets it.
  MatchedChanges match(const Settings& reference, const std::vector<Change>& changes, const std::string& by) const;

  /// What is evened out: parameters, or FLOPs a step.
  double amount_of(const Settings& arm, const std::string& by) const;

private:
  CostOf cost_of_;
  Cost reference_;
};

} // namespace heed
