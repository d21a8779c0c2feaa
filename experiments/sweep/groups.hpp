// Groups of arms ([sweep] within): arms that share their values of some options are compared with each other, and each
// group has a reference of its own, the file with just these values.
#pragma once

#include "experiments/sweep/arm_labels.hpp"
#include "experiments/sweep/plan.hpp"

#include <map>
#include <string>
#include <vector>

namespace heed {

/// What makes the groups of one sweep.
class Groups {
public:
  /// @param keys  all that the sweep changes; throws heed::Refused for an option of `within` that is not among them
  Groups(const std::vector<NamedOption>& within, const std::vector<std::string>& keys, const ArmNames& names);

  const std::vector<PlannedOption>& options() const { return options_; }
  bool none() const { return options_.empty(); }

  /// Of an arm's changes those that put it into its group; what makes it differ within the group is the rest.
  std::vector<Change> shared(const std::vector<Change>& changes) const;
  std::vector<Change> own(const std::vector<Change>& changes) const;

  /// The arm's values. Throws heed::Refused where one of the options does nothing there.
  std::vector<std::string> of(const FlatConfig& arm) const;

  /// "length = 64, width = 32"
  std::string label(const std::vector<std::string>& values) const;

private:
  bool is_shared(const Change& change) const;
  std::vector<NamedOption> within_;
  std::vector<PlannedOption> options_;
};

} // namespace heed
