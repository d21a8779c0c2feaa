// What people call arms: short labels from the options that an arm changes, the name of the reference, and the names of
// [report.label].
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace heed {

/// A configuration's options by full name, each value as TOML writes it.
using FlatConfig = std::map<std::string, std::string>;
FlatConfig flat_config(const Config& config);
/// The same with the values that single blocks have for those of these keys that name them ("block[3].norm"), also
/// where all blocks have them, and for "block.override" with all that differs between blocks.
FlatConfig flat_config(const Config& config, const std::vector<std::string>& keys);

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
  /// chosen kind or variant follows it. "block 3: mixer = attention", "override: every 4th: mixer = attention".
  std::string label(const std::vector<Change>& changes, const FlatConfig& arm, const FlatConfig& reference) const;

  /// "position = none, score = dot": the values that a configuration has of these options. An option that it does not
  /// have is omitted.
  std::string values(const std::vector<std::string>& keys, const FlatConfig& config) const;

  /// "length" for task.copy.length; the full name if another option has the same short name.
  std::string name_of(const std::string& key) const;

private:
  std::map<std::string, int> uses_; ///< number of keys with this short name
};

/// The reference's values are part of its name up to this number of characters.
inline constexpr std::size_t longest_in_name = 40;

/// "position = none": the reference's values of the options that arms change, without those that define groups.
/// @param reference  the configuration of the plan's first arm
std::string reference_values(const Plan& plan, const Config& reference);

/// "reference (position = none)"; "no positions (reference)" with [sweep] reference = "no positions"; "reference" if
/// its values are too long.
std::string reference_name(const Plan& plan, const Config& reference);

/// The labels of all arms, in which the references have this name: "length = 64: reference (position = none)".
std::vector<std::string> named_labels(const Plan& plan, const Config& reference);

/// The labels by the name of a metric or an arm. Names that a label can have: the metrics that the report compares,
/// METRIC of steps_to(METRIC, VALUE), all metrics if the plan has one arm, the arms (in groups, by the name within the
/// group), and "reference". Throws heed::Refused, with the place in the file, for any other name, and for a label that
/// two arms or two metrics would share.
/// @param reference  the configuration of the plan's first arm
std::map<std::string, std::string> checked_labels(const Settings& settings, const Config& reference, const Plan& plan);

/// "66 runs: 11 arms x 6 seeds".
std::string size_in_words(const Plan& plan);

} // namespace heed
