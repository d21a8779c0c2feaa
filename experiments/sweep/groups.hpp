// Groups of arms ([sweep] within): arms with the same values of some options are compared with each other. Each group
// has its own reference, the file with the group's values.
#pragma once

#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/plan.hpp"

#include <string>
#include <vector>

namespace heed {

/// The options that define the groups of one sweep.
class Groups {
public:
  /// @param keys  all options that the sweep changes; throws heed::Refused for an option of `within` not among them
  Groups(const std::vector<NamedOption>& within, const std::vector<std::string>& keys, const ArmNames& names);

  const std::vector<PlannedOption>& options() const { return options_; }
  bool none() const { return options_.empty(); }

  /// `shared` returns the arm's changes that determine its group. `own` returns the other changes, which distinguish
  /// the arm within its group.
  std::vector<Change> shared(std::vector<Change> changes) const;
  std::vector<Change> own(std::vector<Change> changes) const;

  /// The arm's values of the group options. Throws heed::Refused if one of the options has no effect in this arm.
  std::vector<std::string> of(const FlatConfig& arm) const;

  /// "length = 64, width = 32"
  std::string label(const std::vector<std::string>& values) const;

private:
  bool is_shared(const Change& change) const;
  std::vector<NamedOption> within_;
  std::vector<PlannedOption> options_;
};

} // namespace heed
