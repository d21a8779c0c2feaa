// All options for people, for programs and for editors.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Tables with their options: each option's default, meaning, and what it may be. `filter` is a table (shown with the
/// tables within) or an option by full name; empty: everything. Throws heed::Refused where there is no such name.
std::string options_text(std::string_view filter = "");

/// A JSON array of tables: {"table", "title", "options": [{"name", "key", "meaning", "type", "default",
/// "default_means", "unit", "minimum" or "above", "maximum" or "below", "words", "changes_results"}]}, where `type` is
/// boolean, integer, number, text, word or number, integers, numbers or texts.
std::string options_json(std::string_view filter = "");

/// A JSON Schema (draft 2020-12) of configuration files, for editors such as those with Taplo (Even Better TOML).
std::string json_schema();

} // namespace heed
