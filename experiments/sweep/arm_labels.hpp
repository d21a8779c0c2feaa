// What an arm is called: short, human, made from what it changes.
#pragma once

#include "experiments/config/settings.hpp"

#include <map>
#include <string>
#include <vector>

namespace heed {

/// A configuration's options by full name, each value as TOML writes it.
using FlatConfig = std::map<std::string, std::string>;
FlatConfig flat_config(const Config& config);

/// A value as people read it: additive, 0.5, [1, 2].
std::string plain_text(const Value& value);

/// The changes that make the arm differ from the reference, in their order. One that the arm's other choices leave
/// without effect is not among them.
std::vector<Change> differing(const std::vector<Change>& changes, const FlatConfig& arm, const FlatConfig& reference);

/// Names arms of one sweep.
class ArmNames {
public:
  /// @param keys  all that the sweep changes: options whose short names would be the same get their full ones
  explicit ArmNames(const std::vector<std::string>& keys);

  /// "score = additive", "position = learned, concat", "score = cosine, temperature 10": an option that belongs to a
  /// chosen kind or variant stands behind it.
  std::string label(const std::vector<Change>& changes, const FlatConfig& arm, const FlatConfig& reference) const;

  /// "length" for task.copy.length, or all of it where another option has the same short name.
  std::string name_of(const std::string& key) const;

private:
  std::map<std::string, int> uses_; ///< how many keys have this short name
};

} // namespace heed
