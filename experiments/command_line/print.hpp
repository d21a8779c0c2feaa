// Text to a stream. fmt's own print to streams, of <fmt/ostream.h>, compiles all of its formatting anew in each file.
#pragma once

#include <fmt/core.h>
#include <ostream>
#include <utility>

namespace heed {

template <class... Values> void print(std::ostream& out, fmt::format_string<Values...> format, Values&&... values) {
  out << fmt::format(format, std::forward<Values>(values)...);
}

} // namespace heed
