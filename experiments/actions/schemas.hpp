// JSON Schemas of what commands say in JSON, of configs, and of reports.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// "config", "report-document", "run-line", and each command that has JSON.
std::vector<std::string> schema_names();

/// The schema of this name; a command's is of its envelope (docs/how-to/agents.md). Throws heed::Refused for another
/// name.
boost::json::object schema_named(std::string_view name);

} // namespace heed
