// From text examples in files to a dataset: order, splits, encoding and lengths of the examples.
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

/// The options that apply to tasks of text examples, in addition to data.path.
inline std::vector<std::string> options_of_text_examples() {
  return {"data.train",   "data.test",          "data.validation_rows", "data.test_rows",
          "data.shuffle", "data.tokens",        "data.max_length",      "data.too_long",
          "data.bucket",  "train.batch_tokens", "train.full_batch"};
}

/// An example as it is in a file. ExampleFiles owns the text.
struct TextExample {
  std::int64_t line = 0;
  std::string_view input, output; ///< texts; for a labelled text, the output is the label
  /// of each word of the output, whether it is a target: "0 0 1"; none: all are
  std::optional<std::string_view> counts{};
};

/// The examples of a task's files.
struct ExampleFiles {
  std::array<std::vector<TextExample>, 3> examples; ///< by Split; the examples of data.path are in training
  std::vector<TextExample> of_set = {};             ///< Config::of_set: they replace those of validation
  std::array<std::string, 3> names;                 ///< by Split; empty if the split is a part of data.path
  std::string fingerprint;                          ///< of all files
  std::vector<std::shared_ptr<const void>> texts{}; ///< own the memory of the texts of the examples

  /// Stores a value whose memory the examples refer to.
  template <class T> const T& keep(T value) {
    auto kept = std::make_shared<const T>(std::move(value));
    texts.push_back(kept);
    return *kept;
  }

  /// The name of the file with the split's examples.
  const std::string& name(Split split) const {
    const std::string& own = names[static_cast<std::size_t>(split)];
    return own.empty() ? names[0] : own;
  }
  /// Each split's files with their options, for `heed data`. `others` are files that are also read; they may be empty.
  std::array<std::string, 3> described(const std::array<std::string, 3>& others = {}) const;
};

/// Reads data.path, and data.validation_path, data.test_path and Config::of_set if they are given. `read` gets the
/// option that names the file, its path, the split, and the object to which it adds the file's examples and the memory
/// of their texts. It returns the file's fingerprint.
ExampleFiles read_example_files(const Config& config,
                                const std::function<std::string(const std::string& option, const std::string& path,
                                                                Split split, ExampleFiles& files)>& read);

/// The examples of each split. A split with a separate file gets all examples of that file. The examples of data.path
/// are in the file's order or, with [data] shuffle, in a random order given by `Config::split_seed`. The test gets the
/// last test_rows or floor(test n) examples. Then either training gets the first floor(train n) examples and validation
/// gets the examples between, or validation gets the validation_rows before the test and training gets all other
/// examples.
struct SplitExamples {
  std::array<std::vector<const TextExample*>, 3> examples; ///< by Split
  const std::vector<const TextExample*>& operator[](Split split) const {
    return examples[static_cast<std::size_t>(split)];
  }

  /// The inputs or outputs of the training examples, for a vocabulary.
  std::vector<std::string_view> training(std::string_view TextExample::*member) const;
};
/// Throws heed::Refused if no examples are left for a split that gets the remaining examples.
SplitExamples split_examples(const Config& config, const ExampleFiles& files);

/// Encodes the examples into the dataset's examples: inputs with its input vocabulary, outputs with `encode_output`.
/// Examples without a token in input or output are dropped. Examples longer than [data] max_length are dropped or cut,
/// depending on too_long. The dataset's notes have the number of such examples and the first of them (as `file:line`),
/// and the number of inputs of validation and test that are also in training, and the shares of unknown tokens.
/// `text_outputs`: outputs are texts, which may be cut; the texts are stored as references. A token is a target if the
/// word that contains it is one; a word includes the blanks before it. Throws heed::Refused, with `file:line`, if an
/// example's counts are not a 0 or 1 for each word, if all are 0, or if a token spans words with different counts.
void list_examples(const DataOptions& data, const SplitExamples& examples, const ExampleFiles& files, bool text_outputs,
                   const std::function<void(const TextExample&, std::vector<std::int32_t>&)>& encode_output,
                   Dataset& dataset);

} // namespace heed
