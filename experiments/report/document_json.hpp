// A report's document as JSON.
#pragma once

#include "experiments/report/document.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

namespace heed {

/// {"columns": [...], "rows": [...]}. Values have full precision; unknown ones are null.
boost::json::object table_json(const document::Table& table);

/// [{"kind": "column", "name": "p", "claim": ..., "text": ..., "second": false}, ...].
boost::json::array notes_json(const std::vector<document::Note>& notes);

/// [{"kind": "lines", "name": "val-loss-by-step", "x": {...}, "y": {...}, "series": [{"name": ..., "value": [...]}]}].
/// Each number of the points is a list over them.
boost::json::array figures_json(const std::vector<document::Figure>& figures);

} // namespace heed
