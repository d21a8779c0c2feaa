// Descriptions of all options: as text for people, as JSON for programs, and as a JSON Schema for editors.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Tables with their options: the default, the meaning and the allowed values of each option. `filter` is a table
/// (shown with its subtables) or the full name of an option; empty: everything. Throws heed::Refused if the name does
/// not exist.
std::string options_text(std::string_view filter = "");

/// A JSON array of tables: {"table", "title", "options": [{"name", "key", "meaning", "type", "default",
/// "default_means", "unit", "minimum" or "above", "maximum" or "below", "words", "changes_results"}]}, where `type` is
/// boolean, integer, number, text, word or number, integers, numbers or texts.
std::string options_json(std::string_view filter = "");

/// A JSON Schema (draft 2020-12) of configuration files, for editors such as those with Taplo (Even Better TOML).
std::string json_schema();

} // namespace heed
