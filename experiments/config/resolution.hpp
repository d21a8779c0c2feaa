// From settings to a configuration: determines the value of each option for each block, finds settings that have no
// effect, and checks that the combination is valid.
#pragma once

#include "experiments/config/catalogue.hpp"
#include "experiments/config/problems.hpp"

#include <map>
#include <string>
#include <vector>

namespace heed {

/// The value of every option with its origin, for the whole run or for one block.
struct View : OfOptions<Setting> {
  std::map<std::string, Setting> parameters; ///< the settings of formula parameters, by full name
};

struct Resolution {
  explicit Resolution(const Settings& settings);

  View run;                                ///< the whole run; [attention] and [block] are without overrides
  std::vector<View> blocks;                ///< one per block, with overrides applied
  std::vector<std::string> dropped;        ///< settings that have no effect because a later layer chose otherwise
  std::vector<std::string> without_effect; ///< as in Config
  Problems problems;

private:
  View view(const std::map<std::string, Setting>& set) const;
  void find_idle_settings();
  void check_combinations();
  void check_formulas();

  const Settings& settings_;
};

/// Stores the views' values in the structs of Config. An option that has no effect gets its default.
Config resolved_config(const Resolution& resolution);

} // namespace heed
