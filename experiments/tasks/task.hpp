// The interface of a task: it provides the examples of training, validation and test, and their format as model inputs
// and targets.
#pragma once

#include "autograd/fork_safe.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Config;

enum class Split { train, validation, test };

/// The format in which a model gets a task's examples.
/// - language_model: input and output in one sequence; each position predicts the next token. A position whose next
///   token is not part of the output has the target `ignored`. The last target is not an input token. A task with
///   targets at positions of the sequence may have targets other than the next token (`mqar`), and any position may be
///   without a target.
/// - sequence_to_sequence: the input in one sequence, the output in another. The decoder reads the output shifted by
///   one position, after a begin token (teacher forcing), and predicts the output followed by an end token.
/// - classification: the input in a sequence, and one class for the whole sequence.
/// - image_classification: an image, and its class.
enum class TaskFormat { language_model, sequence_to_sequence, classification, image_classification };
/// Whether the output is one class.
constexpr bool gives_class(TaskFormat format) {
  return format == TaskFormat::classification || format == TaskFormat::image_classification;
}

/// The target of a position that the loss and the accuracy ignore.
inline constexpr std::int32_t ignored = -1;

/// The size of an image; all 0 if a task has no images.
struct ImageShape {
  std::int64_t channels = 0, height = 0, width = 0;
  std::int64_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// The sizes that a model is built for.
struct TaskSizes {
  std::int64_t vocabulary = 0; ///< input tokens are 0 .. vocabulary - 1
  std::int64_t length = 0;     ///< maximum number of tokens of a sequence
  /// The number of classes of a prediction: the output tokens with begin and end (language_model,
  /// sequence_to_sequence), or the labels.
  std::int64_t classes = 0;
  std::int64_t output_length = 0; ///< sequence_to_sequence: maximum output length, including the begin token
  /// The same maxima over training's sequences only, for a model that is built for longer sequences, too; 0: the same
  std::int64_t trained_length = 0, trained_output_length = 0;
  std::int32_t begin = -1, end = -1; ///< the output tokens that begin and end an output; -1: none
  bool shared_vocabulary = false;    ///< a token has the same meaning in input and output, so embeddings can be tied
  /// Batches are cut to their longest sequence (`Batch::trim`). Cutting changes the last bits of results, so a task
  /// that does not cut must never start to do so.
  bool varied = false;
  ImageShape image = {}; ///< image_classification
  /// Every output is one token, followed by an end token if there is one. The accuracy is of the output token only.
  bool one_token_outputs = false;
  /// The tokens of [model] segment_end, in the input and in the output; a model's builder sets them
  std::vector<std::int32_t> segment_end = {}, output_segment_end = {};
};

/// Sequences, one for each example, padded on the right to a common length. An image counts as a sequence.
struct Batch {
  std::int64_t sequences = 0, length = 0, output_length = 0;
  TaskFormat format = TaskFormat::language_model;
  std::vector<std::int32_t> tokens; ///< [sequences, length]; padding is token 0. image_classification: empty
  /// [sequences]: number of tokens of the sequence without padding. image_classification: empty
  std::vector<std::int32_t> lengths;
  /// language_model: [sequences, length]; sequence_to_sequence: [sequences, output_length], the output and the end
  /// token; otherwise [sequences].
  std::vector<std::int32_t> targets;

  /// sequence_to_sequence: [sequences, output_length]: the begin token and the output; padding is token 0.
  std::vector<std::int32_t> outputs;
  /// [sequences]: number of outputs, and of targets, of the sequence without padding
  std::vector<std::int32_t> output_lengths;

  ImageShape image;
  std::vector<float> images; ///< image_classification: [sequences, channels, height, width], with a mean of about 0

  /// Sets the lengths to those of the task's longest sequences, and fills the batch with padding and `ignored`.
  /// Allocates only if the batch grows.
  void reset(std::int64_t sequences, const TaskSizes& sizes, TaskFormat format);
  /// Like above, for the formats that only need the length: language_model and classification.
  void reset(std::int64_t sequences, std::int64_t length, TaskFormat format);

  /// Reduces `length` and `output_length` to those of the longest sequence in the batch (at least 1), and moves the
  /// sequences together. Allocates nothing.
  void trim();

  /// A sequence's length in an evaluation by length: in a classification its tokens, otherwise its targets without the
  /// end token.
  std::int64_t evaluated_length(std::int64_t sequence, const TaskSizes& sizes) const;

  /// The number of input and output tokens without padding; an image counts as one.
  std::int64_t real_tokens() const;
};

class Task {
public:
  virtual ~Task() = default;

  /// Why the task cannot be used in this format; empty if it can.
  virtual std::string refuses(TaskFormat format) const = 0;
  virtual TaskSizes sizes(TaskFormat format) const = 0;
  /// Like `sizes`, but only for training sequences, whose maximum length may be smaller.
  virtual TaskSizes training_sizes(TaskFormat format) const { return sizes(format); }

  /// Sequence `sequence` of training step `step` for replicate seed `seed`: a function of these three only, so that any
  /// shard on any thread can make any sequence. Writes sequence `at` of `batch`, which has been reset.
  virtual void training_sequence(TaskFormat format, std::uint64_t seed, std::int64_t step, std::int64_t sequence,
                                 Batch& batch, std::int64_t at) const = 0;

  /// Like `training_sequence`, but only lengths and target positions are meaningful; the values of tokens and targets
  /// are undefined. So a large file of tokens does not need to be read.
  virtual void training_sequence_lengths(TaskFormat format, std::uint64_t seed, std::int64_t step,
                                         std::int64_t sequence, Batch& batch, std::int64_t at) const {
    training_sequence(format, seed, step, sequence, batch, at);
  }

  /// The number of sequences of the step, if [train] batch_tokens or full_batch determines it; 0: [train] batch.
  virtual std::int64_t training_sequences(TaskFormat, std::uint64_t /*seed*/, std::int64_t /*step*/) const { return 0; }

  /// The number of evaluation sequences of the split (train: as many as validation, drawn from the training part).
  virtual std::int64_t evaluation_sequences(TaskFormat format, Split split) const = 0;
  virtual void evaluation_sequence(TaskFormat format, Split split, std::int64_t sequence, Batch& batch,
                                   std::int64_t at) const = 0;
  /// Like `evaluation_sequence`, but only lengths and target positions are meaningful.
  virtual void evaluation_sequence_lengths(TaskFormat format, Split split, std::int64_t sequence, Batch& batch,
                                           std::int64_t at) const {
    evaluation_sequence(format, split, sequence, batch, at);
  }

  /// The number of sequences of a split, for callers that use each sequence once; empty if the sequences are drawn anew
  /// for every step.
  virtual std::optional<std::int64_t> listed_sequences(TaskFormat format, Split split) const {
    return split == Split::train ? std::nullopt : std::optional(evaluation_sequences(format, split));
  }
  /// Sequence `sequence` of the listed sequences, in the order of the data.
  virtual void listed_sequence(TaskFormat format, Split split, std::int64_t sequence, Batch& batch,
                               std::int64_t at) const {
    evaluation_sequence(format, split, sequence, batch, at);
  }

  /// The expected output for an evaluation sequence, as the data has it.
  struct Reference {
    std::string text;
    /// True if the output's tokens represent the whole text: none is unknown and none was cut off
    bool in_vocabulary = true;
  };
  /// sequence_to_sequence: the reference of a sequence of validation or test; empty: the text of the sequence's
  /// targets.
  virtual std::optional<Reference> reference(Split, std::int64_t) const { return std::nullopt; }
  /// The input token for everything that is not in the vocabulary; -1: there is none, and such texts are refused.
  virtual std::int32_t unknown_input() const { return -1; }
  /// True if this output token stands for everything that is not in the vocabulary.
  virtual bool is_unknown_output(std::int32_t) const { return false; }

  /// Random evaluation sequence `sequence` after `step` steps: a function of these and the seed. All evaluation
  /// sequences of the split are equally likely; for running text, all windows are.
  virtual void random_sequence(TaskFormat format, Split split, std::uint64_t seed, std::int64_t step,
                               std::int64_t sequence, Batch& batch, std::int64_t at) const;

  /// Throws heed::Failed if sequences that were written so far may be wrong because somebody shortened a data file or
  /// wrote to it. Call it after sequences are written and before they are used.
  virtual void require_whole() const {}

  /// A chance level, and how it is computed, in words: {0.0417, "1 / symbols"}.
  struct Level {
    double value = 0;
    std::string how = "";
  };
  /// The performance of guessing without looking at the input.
  struct Chance {
    double accuracy = 0;                ///< of one target
    std::string how = "";               ///< how the accuracy is computed; empty: the data is not there
    std::optional<Level> sequence = {}; ///< probability that all targets of a sequence are right; empty: unknown
    std::optional<Level> loss = {};     ///< cross-entropy of a target (nats); empty: unknown
  };
  virtual Chance chance(TaskFormat format) const = 0;

  /// The task with all sequences of one length, in the unit of the task's own length option (copy: symbols, addition:
  /// digits, text: tokens of a window). It has as many sequences of validation and test as this task, or all that
  /// exist. The vocabulary is the same. The task is made once and cached. Null if the task has no such option, so that
  /// its sequences have lengths of their own. Throws heed::Refused if the length is not possible.
  const Task* of_length(std::int64_t length) const;

  /// Information about the data, available before training.
  struct Facts {
    std::string unit = "";                  ///< the unit of the sizes: "examples", "characters"
    std::array<std::int64_t, 3> sizes = {}; ///< by Split; -1: sequences are drawn anew for every step, without end
    std::array<std::string, 3> files = {};  ///< by Split: the source of the examples; empty if no file is read
    std::vector<std::string> notes = {};    ///< what was dropped, cut or repeated, one sentence each
  };
  virtual Facts facts() const { return {}; }
  /// Likely mistakes in the data, one sentence each: words that look alike but differ, evaluation images that are also
  /// in training. This may take as long as reading the data.
  virtual std::vector<std::string> warnings() const { return {}; }

  /// Identifies the data in a run's identity: a hash of the content, or of the generator's version and options; with
  /// those of the further validation sets.
  std::string fingerprint() const;

  /// A further validation set ([data] validation_sets): a task whose validation split has the set's sequences, and
  /// which has the vocabulary and the training split of this task.
  struct NamedSet {
    std::string name;
    std::unique_ptr<Task> task;
  };
  const std::vector<NamedSet>& sets() const { return sets_; }
  void add_set(NamedSet set) { sets_.push_back(std::move(set)); }

  /// The text of tokens, for people and for `heed generate`: characters, or words separated by spaces.
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
  /// The input tokens of a text. Throws heed::Refused with the part of the text that is not in the vocabulary.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// The tokens of an output that a sequence_to_sequence model's decoder reads, without its begin and end token.
  virtual std::vector<std::int32_t> encode_output(std::string_view text) const { return encode(text); }
  /// The label of one token on the axis of a figure, in UTF-8. `token_text` is for the tokens of `encode`
  /// (language_model: of any sequence); `output_token_text` is for the tokens that a sequence_to_sequence model's
  /// decoder reads and predicts.
  virtual std::string token_text(std::int32_t token) const { return decode({&token, 1}); }
  virtual std::string output_token_text(std::int32_t token) const { return token_text(token); }
  /// The text of a model's output in this format. sequence_to_sequence: the tokens before the first end token, without
  /// the begin token; classification: the names of the classes; language_model: as `decode`.
  virtual std::string decode_output(TaskFormat, std::span<const std::int32_t> tokens) const { return decode(tokens); }

private:
  virtual std::string own_fingerprint() const = 0;
  virtual std::unique_ptr<Task> make_of_length(std::int64_t /*length*/) const { return nullptr; }

  std::vector<NamedSet> sets_;
  mutable ForkSafe<std::map<std::int64_t, std::unique_ptr<Task>>> of_length_;
};

/// Cross-entropy (nats) of the outcomes in validation under their frequencies in training: -sum_i v_i ln(t_i / sum t) /
/// sum v. Empty if training lacks an outcome that validation has, or if one of them has no outcomes.
/// @param training, validation  the count of each outcome; both have the same size
std::optional<Task::Level> loss_by_frequencies(std::span<const std::int64_t> training,
                                               std::span<const std::int64_t> validation, const std::string& what);

/// The task that a configuration names. Throws heed::Refused if there is no task of this name, or if its data or its
/// options are not usable.
std::unique_ptr<Task> make_task(const Config& config);

} // namespace heed
