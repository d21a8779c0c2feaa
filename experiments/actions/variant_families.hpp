// Families of variants as data.
#pragma once

#include "experiments/actions/results.hpp"
#include "experiments/config/catalogue.hpp"

#include <string>
#include <vector>

namespace heed {

/// The key of a family, such as "attention.score". Users may also write "score" or the family's title.
std::string key_of(const VariantFamily& family);

/// The families with this name; or, if there are none, the variants with this name in their families; all for an empty
/// name. Throws heed::Refused if there is neither.
std::vector<VariantFamily> families_called(const std::string& name);

VariantFamilyResult family_result(const VariantFamily& family);

} // namespace heed
