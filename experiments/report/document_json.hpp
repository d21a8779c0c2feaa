// A report's document as JSON.
#pragma once

#include "experiments/report/document.hpp"

#include <boost/json/object.hpp>

namespace heed {

/// {"columns": [...], "rows": [...]}. Values have full precision; unknown ones are null.
boost::json::object table_json(const document::Table& table);

} // namespace heed
