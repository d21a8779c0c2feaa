// How messages name the options of a command. Other programs that ask the same have options with other names.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heed {

struct OptionNames {
  std::string mark = "--"; ///< before an option's name
  char between = '-';      ///< between the words of an option's name

  /// "--top-k" for the words "top-k".
  std::string operator()(std::string_view words) const {
    std::string name = mark + std::string(words);
    std::replace(name.begin() + static_cast<std::ptrdiff_t>(mark.size()), name.end(), '-', between);
    return name;
  }
};

} // namespace heed
