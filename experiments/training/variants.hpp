// The families of variants of training and models, for whoever lists them.
#pragma once

#include "options/variant.hpp"

#include <vector>

namespace heed {

VariantFamily schedule_family();
VariantFamily optimizer_family();

} // namespace heed
