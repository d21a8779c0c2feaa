// From rows of text in a file to a listed task: order, splits, lengths.
#pragma once

#include "experiments/tasks/listed_task.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// An example as it stands in a file.
struct TextRow {
  std::int64_t line = 0;
  std::string input, output;           ///< texts; of a labelled text, the output is the label
};

/// The rows of each split: in the file's order, or with [data] shuffle in one drawn by `task.seed`, the first
/// floor(train n), what is between, and the last floor(test n).
struct SplitRows {
  std::array<std::vector<const TextRow*>, 3> rows;  ///< by Split
  const std::vector<const TextRow*>& operator[](Split split) const { return rows[static_cast<std::size_t>(split)]; }

  /// The training rows' inputs or outputs, for a vocabulary.
  std::vector<std::string_view> training(std::string TextRow::*member) const;
};
SplitRows split_rows(const Config& config, const std::vector<TextRow>& rows);

/// Encodes the rows into the listing's examples: inputs by its input vocabulary, outputs by `encode_output`. Rows
/// without a token in input or output are dropped; those above [data] max_length are dropped, or cut to it, as
/// too_long says; the listing's notes say how many and where the first is (as `file:line`), and how many inputs of
/// validation and test stand in training too. `cut_outputs`: outputs have a length that may be cut.
void list_rows(const DataOptions& data, const SplitRows& rows, const std::string& file, bool cut_outputs,
               const std::function<void(const TextRow&, std::vector<std::int32_t>&)>& encode_output, Listing& listing);

} // namespace heed
