// From settings to a configuration: which value each option has for each block, which settings do nothing, and whether
// the combination is possible.
#pragma once

#include "experiments/config/catalogue.hpp"
#include "experiments/config/problems.hpp"

#include <map>
#include <string>
#include <vector>

namespace heed {

/// Every option's value with its origin, for the whole run or as one block sees it.
struct View : OfOptions<Setting> {
  std::map<std::string, Setting> parameters; ///< what is set of formulas' parameters, by full name
};

struct Resolution {
  explicit Resolution(const Settings& settings);

  View run;                                ///< of the whole run; for [attention] and [block]: without overrides
  std::vector<View> blocks;                ///< of each block, overrides applied
  std::vector<std::string> dropped;        ///< settings that do nothing because a later layer chose otherwise
  std::vector<std::string> without_effect; ///< as in Config
  Problems problems;

private:
  View view(const std::map<std::string, Setting>& set) const;
  void find_idle_settings();
  void check_combinations();
  void check_formulas();

  const Settings& settings_;
};

/// The views' values put into structs; an option that does nothing has its default.
Config resolved_config(const Resolution& resolution);

} // namespace heed
