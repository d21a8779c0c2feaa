// A task: where examples come from, and how a model sees them.
#pragma once

#include "layers/variant.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heed {

struct Config;

enum class Split { train, validation, test };

/// How a model sees a task's examples.
/// - language_model: input and output in one row, each position predicts the next token; positions whose next token
///   is not part of the output have the target `ignored`. What is predicted last is a target only, not a token.
/// - classification: the input in a row, one class for the whole row.
enum class Form { language_model, classification };

/// The target of a position that does not count.
inline constexpr std::int32_t ignored = -1;

/// Rows of examples, padded on the right to a common length.
struct Batch {
  std::int64_t rows = 0, length = 0;
  std::vector<std::int32_t> tokens;   ///< [rows, length]; padding holds token 0
  std::vector<std::int32_t> lengths;  ///< [rows]: how many tokens of the row are real
  std::vector<std::int32_t> targets;  ///< language_model: [rows, length]; classification: [rows]

  /// Sets the shape, and fills with padding and `ignored`. Allocates only when it grows.
  void reset(std::int64_t rows, std::int64_t length, Form form);
};

/// What a model must be made for.
struct TaskShape {
  std::int64_t vocabulary = 0;  ///< token ids are 0 .. vocabulary - 1
  std::int64_t length = 0;      ///< of the longest row
  std::int64_t classes = 0;     ///< of the output: the vocabulary (language_model) or the classes (classification)
};

class Task {
public:
  virtual ~Task() = default;

  /// Why the task cannot be seen in this form; empty where it can.
  virtual std::string refuses(Form form) const = 0;
  virtual TaskShape shape(Form form) const = 0;

  /// Row `row` of training step `step` under replicate seed `seed`: a function of these three alone, so that any shard
  /// on any thread can make any row. `batch` has been reset; writes row `at` of it.
  virtual void training_row(Form form, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                            std::int64_t at) const = 0;

  /// How many rows the split has for evaluation (train: as many as validation, drawn from the training part).
  virtual std::int64_t evaluation_rows(Form form, Split split) const = 0;
  virtual void evaluation_row(Form form, Split split, std::int64_t row, Batch& batch, std::int64_t at) const = 0;

  /// Accuracy of guessing without looking at the input, and how it is found in words: {0.0417, "1 / symbols"}.
  struct Chance { double accuracy; std::string how; };
  virtual Chance chance(Form form) const = 0;

  /// What the data is, for a run's identity: a hash of the content, or of the generator's version and options.
  virtual std::string fingerprint() const = 0;

  /// Text for tokens, for people and for `heed generate`: characters, or words with spaces between.
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
  /// Tokens for text; throws heed::Refused that names what is not in the vocabulary.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
};

/// A task's entry in the registry; the record stands in the task's own file under experiments/tasks/kinds/.
struct TaskInfo {
  Variant about;
  std::unique_ptr<Task> (*make)(const Config& config);  ///< throws heed::Refused where the data is not usable
};

/// All registered tasks, in Meson's order (generated).
std::span<const TaskInfo* const> task_kinds();

/// The task that a configuration names; throws heed::Refused where there is none of that name, or where its data or its
/// options are not usable.
std::unique_ptr<Task> make_task(const Config& config);

} // namespace heed
