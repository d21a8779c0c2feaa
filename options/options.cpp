#include "options/options.hpp"

namespace heed {

OptionValues without_neutral(const std::vector<Option>& options, OptionValues values) {
  for (const Option& o : options)
    if (const auto found = values.find(o.name); found != values.end() && o.neutral && found->second == *o.neutral)
      values.erase(found);
  return values;
}

} // namespace heed
