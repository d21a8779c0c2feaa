// Metrics of rows of one length, by their names: NAME_at.N, of rows that the task makes with that length
// (train.evaluate_lengths), and NAME_by_length.N, of the split's own rows that have it (train.evaluate_by_length).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// The metric of accuracies by the rows' own lengths.
inline constexpr std::string_view by_length_metric = "val_accuracy_by_length";

/// "val_loss_at.64" and "val_accuracy_by_length.8".
std::string name_at_length(std::string_view metric, std::int64_t length);
std::string name_by_length(std::string_view metric, std::int64_t length);

/// "val_loss_at": what all lengths of val_loss have before the dot. Of a name that is one, itself.
std::string family_at_lengths(std::string_view metric);
/// val_loss of "val_loss_at".
std::string metric_of_family(std::string_view family);

struct NameOfLength {
  std::string_view family; ///< val_loss_at, val_accuracy_by_length
  std::int64_t length = 0;
};
/// Of the validation split's metrics by length; none for any other name.
std::optional<NameOfLength> name_of_length(std::string_view name);

} // namespace heed
