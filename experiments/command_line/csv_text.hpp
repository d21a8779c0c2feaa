// Fields of comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// The text, in quotes where it holds a comma, a quote or a line break.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

} // namespace heed
