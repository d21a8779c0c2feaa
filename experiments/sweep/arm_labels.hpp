// Generates short readable labels of arms from the options that an arm changes.
#pragma once

#include "experiments/config/settings.hpp"

#include <map>
#include <string>
#include <vector>

namespace heed {

/// A configuration's options by full name, each value as TOML writes it.
using FlatConfig = std::map<std::string, std::string>;
FlatConfig flat_config(const Config& config);

/// A value as readable text: additive, 0.5, [1, 2].
std::string plain_text(const Value& value);

/// The changes that make the arm differ from the reference, in their original order. A change is omitted if the arm's
/// other choices make it ineffective.
std::vector<Change> differing(const std::vector<Change>& changes, const FlatConfig& arm, const FlatConfig& reference);

/// Generates the labels of one sweep's arms.
class ArmNames {
public:
  /// @param keys  all options that the sweep changes; options with the same short name get their full names
  explicit ArmNames(const std::vector<std::string>& keys);

  /// "score = additive", "position = learned, concat", "score = cosine, temperature 10": an option that belongs to a
  /// chosen kind or variant follows it.
  std::string label(const std::vector<Change>& changes, const FlatConfig& arm, const FlatConfig& reference) const;

  /// "position = none, score = dot": the values that a configuration has of these options. An option that it does not
  /// have is omitted.
  std::string values(const std::vector<std::string>& keys, const FlatConfig& config) const;

  /// "length" for task.copy.length; the full name if another option has the same short name.
  std::string name_of(const std::string& key) const;

private:
  std::map<std::string, int> uses_; ///< number of keys with this short name
};

} // namespace heed
