// The further validation sets of a configuration: [data] validation_sets.
#pragma once

#include "experiments/config/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A file whose examples are evaluated beside the validation split.
struct ValidationSet {
  std::string name; ///< letters, digits, '_' and '-'
  std::string path;
};

/// The sets of [data] validation_sets, which are "NAME = FILE" each. Throws heed::Refused for an entry of another form,
/// a name with other characters, and a name that occurs twice.
std::vector<ValidationSet> validation_sets(const DataOptions& data);

/// The metric over the examples of a set: "val_loss_on.noisy".
std::string name_on_set(std::string_view metric, std::string_view set);
/// "val_loss" for "val_loss_on.noisy"; empty for a name of another form.
std::string metric_on_a_set(std::string_view name);

} // namespace heed
