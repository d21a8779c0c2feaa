// JSON for readers.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace heed {

/// JSON with line breaks, indentation and a final newline; lists of scalar values are on one line.
std::string indented(const boost::json::value& value);

} // namespace heed
