// JSON as people like to read it.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace heed {

/// With line breaks and indentation, and a newline at its end; lists of plain values stay in one line.
std::string indented(const boost::json::value& value);

} // namespace heed
