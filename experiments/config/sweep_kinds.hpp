// The kinds of a sweep's blocks: how each is written, and which combinations it asks for. One table; whoever reads,
// expands or describes blocks iterates over it.
#pragma once

#include "experiments/config/settings.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

/// How the changes of a block are written.
enum class SweepForm {
  crossed, ///< options with lists of values
  paired,  ///< the same, lists of one length
  sets,    ///< NAME = { option = value, ... }
  arms,    ///< the same, or a list of such tables
  draws,   ///< options with distributions, and `count` and `seed` beside them
};

/// One combination that a block asks for, before anyone looked at what it comes to.
struct Candidate {
  std::vector<Change> changes;
  std::string label; ///< "without residual"; empty: made from the changes
  Origin origin;
};

struct SweepKind {
  std::string name;
  std::string meaning; ///< half a sentence
  std::string holder;  ///< the option that holds the changes; without a `kind`, the first that has it
  SweepForm form;
  std::string each; ///< what one of `sets` is called in errors: "each ablation"
  /// Throws heed::Refused, with the place, for what can't be together.
  std::vector<Candidate> (*expand)(const SweepBlock&);
};

const std::vector<SweepKind>& sweep_kinds();

/// The most combinations that one block may come to.
inline constexpr std::size_t most_arms = 100'000;

/// Every combination of the axes' values, the last axis fastest. Throws heed::Refused where these are more than
/// `most_arms`.
std::vector<std::vector<Change>> combinations(const std::vector<Axis>& axes, const Origin& origin);

/// The combinations of a block, by its kind.
std::vector<Candidate> expand(const SweepBlock& block);

} // namespace heed
