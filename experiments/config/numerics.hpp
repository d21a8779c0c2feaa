// The versions of the numerics that a configuration's results depend on.
#pragma once

#include "experiments/config/settings.hpp"
#include "options/variant.hpp"

#include <string>
#include <vector>

namespace heed {

/// Increases whenever the same file gives different bits than before: because results of any configuration changed, or
/// because an option has another default. If only the results of one variant changed, the number in its record
/// (`Variant::numerics`) increases instead, and the IDs of runs without this variant stay.
inline constexpr int numerics_version = 13;

struct VariantInUse {
  std::string name; ///< with its table: "attention.softpick"
  const Variant* variant;
};
/// The variants and the parts of attention that a configuration uses, in the model or in some block, each once.
std::vector<VariantInUse> variants_in_use(const std::vector<FlatOption>& options);

/// "13", followed by the variants whose results have changed since: "13, attention.softpick 2".
std::string numerics_text(const std::vector<VariantInUse>& variants);

/// The numerics of a configuration. They are part of a run's identity, so runs of different numerics are never mixed.
std::string numerics_of(const std::vector<FlatOption>& options);

} // namespace heed
