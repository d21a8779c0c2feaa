// Prints formatted text to a stream. <fmt/ostream.h> has such a function, but compiles all formatting code again in
// each file.
#pragma once

#include <fmt/core.h>
#include <ostream>
#include <utility>

namespace heed {

template <class... Values> void print(std::ostream& out, fmt::format_string<Values...> format, Values&&... values) {
  out << fmt::format(format, std::forward<Values>(values)...);
}

} // namespace heed
