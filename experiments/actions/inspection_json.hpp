// The measurements of `heed inspect` as JSON.
#pragma once

#include "experiments/training/training.hpp"

#include <boost/json/object.hpp>

namespace heed {

/// A head is called localised if its mean attention distance, in positions, is below this bound.
inline constexpr double localised_below = 1.5;
bool is_localised(const HeadInspection& head);

/// {"heads": [...], "layers": [...], "modules": [...]}: an object for each of them, with the fields of HeadInspection,
/// LayerInspection and ModuleInspection, null where a value is unknown, and "localised" for heads.
boost::json::object inspection_json(const Inspection& found);

} // namespace heed
