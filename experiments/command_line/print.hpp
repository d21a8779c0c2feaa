// Text to a stream. fmt's own print to streams, of <fmt/ostream.h>, compiles all of its formatting anew in each file.
#pragma once

#include <fmt/core.h>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

template <class... Values> void print(std::ostream& out, fmt::format_string<Values...> format, Values&&... values) {
  out << fmt::format(format, std::forward<Values>(values)...);
}

/// A text as a terminal shows it whatever it holds: a control character, but for line ends and tabs, as "\x1b".
inline std::string without_controls(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (const auto after = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        c == 0xc2 && after >= 0x80 && after < 0xa0) { // U+0080 to U+009F
      out += fmt::format("\\x{:02x}", after);
      ++i;
    } else if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t')) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += text[i];
    }
  }
  return out;
}

} // namespace heed
