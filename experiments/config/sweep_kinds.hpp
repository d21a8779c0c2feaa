// The kinds of sweep blocks in one table: how each kind is written, and how it is expanded into combinations of
// changes. Code that reads, expands or describes blocks iterates over this table.
#pragma once

#include "experiments/config/settings.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

/// How a block writes its changes.
enum class SweepForm {
  crossed, ///< options with lists of values; all combinations
  paired,  ///< options with lists of values of equal length; combined by index
  sets,    ///< NAME = { option = value, ... }
  arms,    ///< like `sets`, or a list of such tables
  draws,   ///< options with distributions, and `count` and `seed`
};

/// One combination that a block asks for, before it is checked and resolved.
struct Candidate {
  std::vector<Change> changes;
  std::string label; ///< "without residual"; empty: the label is made from the changes
  Origin origin;
};

struct SweepKind {
  std::string name;
  std::string meaning; ///< half a sentence for descriptions
  /// The option that contains the changes; in a block without `kind`, the first kind whose holder is present applies
  std::string holder;
  SweepForm form;
  std::string each; ///< the name of one entry of `sets` in errors: "each ablation"
  /// Throws heed::Refused, with the position, for changes that cannot be combined.
  std::vector<Candidate> (*expand)(const SweepBlock&);
};

const std::vector<SweepKind>& sweep_kinds();

/// The maximum number of combinations of one block.
inline constexpr std::size_t most_arms = 100'000;

/// Every combination of the axes' values; the last axis varies fastest. Throws heed::Refused if there are more than
/// `most_arms`.
std::vector<std::vector<Change>> combinations(const std::vector<Axis>& axes, const Origin& origin);

/// The combinations of a block, according to its kind.
std::vector<Candidate> expand(const SweepBlock& block);

} // namespace heed
