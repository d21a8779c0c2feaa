// From rows of text in a file to a listed task: order, splits, lengths.
#pragma once

#include "experiments/tasks/listed_task.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// The options that tasks of rows of texts have a use for, beside data.path.
inline std::vector<std::string> options_of_text_rows() {
  return {"data.train",   "data.test",          "data.validation_rows", "data.test_rows",
          "data.shuffle", "data.tokens",        "data.max_length",      "data.too_long",
          "data.bucket",  "train.batch_tokens", "train.full_batch"};
}

/// An example as it stands in a file, whose text RowFiles keeps.
struct TextRow {
  std::int64_t line = 0;
  std::string_view input, output; ///< texts; of a labelled text, the output is the label
  std::optional<std::string_view>
      counts{}; ///< of each word of the output, whether it is a target: "0 0 1"; none: all are
};

/// The rows of a task's files.
struct RowFiles {
  std::array<std::vector<TextRow>, 3> rows;         ///< by Split; those of data.path are training's
  std::array<std::string, 3> names;                 ///< by Split; empty where a split is a part of data.path
  std::string fingerprint;                          ///< of all files
  std::vector<std::shared_ptr<const void>> texts{}; ///< what rows are views of

  /// Keeps what rows are to be views of.
  template <class T> const T& keep(T value) {
    auto kept = std::make_shared<const T>(std::move(value));
    texts.push_back(kept);
    return *kept;
  }

  /// The file that the split's rows are from.
  const std::string& name(Split split) const {
    const std::string& own = names[static_cast<std::size_t>(split)];
    return own.empty() ? names[0] : own;
  }
  /// A split's files with their options, for `heed data`; `others` are read beside them, and may be empty.
  std::array<std::string, 3> described(const std::array<std::string, 3>& others = {}) const;
};

/// Reads data.path, and data.validation_path and data.test_path where they are given. `read` is called with the option
/// that names the file, its path, the split, and where the file's rows go and what they are views of; it gives the
/// file's fingerprint.
RowFiles read_row_files(const DataOptions& data,
                        const std::function<std::string(const std::string& option, const std::string& path, Split split,
                                                        RowFiles& files)>& read);

/// The rows of each split. A split with a file of its own has all of that. Of data.path, in the file's order, or with
/// [data] shuffle in one drawn by `task.seed`: the test takes the last test_rows or floor(test n); training the first
/// floor(train n), and validation what is between; or validation the validation_rows before the test, and training all
/// others.
struct SplitRows {
  std::array<std::vector<const TextRow*>, 3> rows; ///< by Split
  const std::vector<const TextRow*>& operator[](Split split) const { return rows[static_cast<std::size_t>(split)]; }

  /// The training rows' inputs or outputs, for a vocabulary.
  std::vector<std::string_view> training(std::string_view TextRow::*member) const;
};
/// Throws heed::Refused where nothing is left for a split that takes the rest.
SplitRows split_rows(const Config& config, const RowFiles& files);

/// Encodes the rows into the dataset's examples: inputs by its input vocabulary, outputs by `encode_output`. Rows
/// without a token in input or output are dropped; those above [data] max_length are dropped, or cut to it, as
/// too_long says; the dataset's notes say how many and where the first is (as `file:line`), and how many inputs of
/// validation and test stand in training too. `text_outputs`: outputs are texts, which may be cut, and are kept as
/// references. A token counts as the word does that it lies in, with the blanks before it; heed::Refused, as
/// `file:line`, where a row's counts are not a 0 or 1 for each word, all 0, or of words that tokens reach across.
void list_rows(const DataOptions& data, const SplitRows& rows, const RowFiles& files, bool text_outputs,
               const std::function<void(const TextRow&, std::vector<std::int32_t>&)>& encode_output, Dataset& dataset);

} // namespace heed
