// A task: where examples come from, and how a model sees them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Config;

enum class Split { train, validation, test };

/// How a model sees a task's examples.
/// - language_model: input and output in one row, each position predicts the next token; positions whose next token
///   is not part of the output have the target `ignored`. What is predicted last is a target only, not a token. A task
///   whose targets stand at places of the row may want what isn't the next token (`mqar`), and any place may go without.
/// - sequence_to_sequence: the input in a row, and the output in another. A decoder reads the output one place late,
///   after a token that begins it (teacher forcing), and predicts it with a token that ends it.
/// - classification: the input in a row, one class for the whole row.
/// - image_classification: an image, and its class.
enum class Form { language_model, sequence_to_sequence, classification, image_classification };

/// The target of a position that does not count.
inline constexpr std::int32_t ignored = -1;

/// The size of an image; all 0 where a task has none.
struct ImageShape {
  std::int64_t channels = 0, height = 0, width = 0;
  std::int64_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// What a model must be made for.
struct TaskShape {
  std::int64_t vocabulary = 0; ///< ids of the input's tokens are 0 .. vocabulary - 1
  std::int64_t length = 0;     ///< of the longest row of tokens
  /// What is predicted: the output's tokens, with begin and end (language_model, sequence_to_sequence), or the classes.
  std::int64_t classes = 0;
  std::int64_t output_length = 0;    ///< sequence_to_sequence: of the longest row of outputs, its begin token included
  std::int32_t begin = -1, end = -1; ///< the output tokens that begin and end an output; -1: there is none
  bool shared_vocabulary = false;    ///< a token means the same in input and output, so that embeddings can be tied
  /// Batches are cut to their longest row (`Batch::trim`). Bits depend on it, so a task that goes without stays
  /// without.
  bool varied = false;
  ImageShape image = {}; ///< image_classification
  /// Every output is one token, and one that ends it, if there is that: an answer that accuracy is of.
  bool one_token_outputs = false;
};

/// Rows of examples, padded on the right to a common length.
struct Batch {
  std::int64_t rows = 0, length = 0, output_length = 0;
  Form form = Form::language_model;
  std::vector<std::int32_t> tokens;  ///< [rows, length]; padding holds token 0. image_classification: empty
  std::vector<std::int32_t> lengths; ///< [rows]: how many tokens of the row are real. image_classification: empty
  /// language_model: [rows, length]; sequence_to_sequence: [rows, output_length]: the output, then the end token;
  /// else [rows].
  std::vector<std::int32_t> targets;

  /// sequence_to_sequence: [rows, output_length]: the begin token, then the output; padding holds token 0.
  std::vector<std::int32_t> outputs;
  std::vector<std::int32_t> output_lengths; ///< [rows]: how many of the row's outputs, and of its targets, are real

  ImageShape image;
  std::vector<float> images; ///< image_classification: [rows, channels, height, width], about 0 on the mean

  /// Sets the shape to that of the task's longest rows, and fills with padding and `ignored`. Allocates only when it
  /// grows.
  void reset(std::int64_t rows, const TaskShape& shape, Form form);
  /// The same for the forms that need no more of a shape than the length: language_model and classification.
  void reset(std::int64_t rows, std::int64_t length, Form form);

  /// Cuts `length` and `output_length` to the longest row that is there (at least 1), and moves the rows together.
  /// Allocates nothing.
  void trim();

  /// What a step has worked through: real tokens of input and output; an image counts as one.
  std::int64_t real_tokens() const;
};

class Task {
public:
  virtual ~Task() = default;

  /// Why the task cannot be seen in this form; empty where it can.
  virtual std::string refuses(Form form) const = 0;
  virtual TaskShape shape(Form form) const = 0;
  /// The same for training's rows only, whose longest may be shorter.
  virtual TaskShape training_shape(Form form) const { return shape(form); }

  /// Row `row` of training step `step` under replicate seed `seed`: a function of these three alone, so that any shard
  /// on any thread can make any row. `batch` has been reset; writes row `at` of it.
  virtual void training_row(Form form, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                            std::int64_t at) const = 0;

  /// The same row for who only counts: lengths, and which places have targets, are the row's; what the tokens and targets
  /// are is left open, so that a large file of them need not be read.
  virtual void training_row_lengths(Form form, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                                    std::int64_t at) const {
    training_row(form, seed, step, row, batch, at);
  }

  /// How many rows that step has, where it follows from [train] batch_tokens or full_batch; 0: [train] batch.
  virtual std::int64_t training_rows(Form, std::uint64_t /*seed*/, std::int64_t /*step*/) const { return 0; }

  /// How many rows the split has for evaluation (train: as many as validation, drawn from the training part).
  virtual std::int64_t evaluation_rows(Form form, Split split) const = 0;
  virtual void evaluation_row(Form form, Split split, std::int64_t row, Batch& batch, std::int64_t at) const = 0;
  /// As `training_row_lengths`.
  virtual void evaluation_row_lengths(Form form, Split split, std::int64_t row, Batch& batch, std::int64_t at) const {
    evaluation_row(form, split, row, batch, at);
  }

  /// How many rows a split is made of, for who wants to see each of them once; none: they are made anew for every step.
  virtual std::optional<std::int64_t> listed_rows(Form form, Split split) const {
    return split == Split::train ? std::nullopt : std::optional(evaluation_rows(form, split));
  }
  /// Row `row` of these, in the order in which the data has them.
  virtual void listed_row(Form form, Split split, std::int64_t row, Batch& batch, std::int64_t at) const {
    evaluation_row(form, split, row, batch, at);
  }

  /// What a model is to put out for a row of evaluation, as the data has it.
  struct Reference {
    std::string text;
    bool in_vocabulary = true; ///< the output's tokens are all of it: none is unknown, none was cut off
  };
  /// sequence_to_sequence: the reference of a row of validation or test; none: the text of its targets.
  virtual std::optional<Reference> reference(Split, std::int64_t) const { return std::nullopt; }
  /// The token of an input that stands for all that the vocabulary lacks; -1: there is none, and such texts are refused.
  virtual std::int32_t unknown_input() const { return -1; }
  /// Is this token of an output one that stands for all that the vocabulary lacks?
  virtual bool is_unknown_output(std::int32_t) const { return false; }

  /// Row `row` of the random rows of an evaluation after `step` steps: a function of these and the seed. Any of the
  /// split's evaluation rows is as likely as the others; of a running text, any window.
  virtual void random_row(Form form, Split split, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                          std::int64_t at) const;

  /// Throws heed::Failed where rows that were written so far may not be the data's: somebody shortened a file that they
  /// are read from, or wrote to it. To be asked after rows are written and before they are used.
  virtual void require_whole() const {}

  /// A number that guessing comes to, and how it is found in words: {0.0417, "1 / symbols"}.
  struct Level {
    double value = 0;
    std::string how = "";
  };
  /// What guessing without looking at the input comes to.
  struct Chance {
    double accuracy = 0;                ///< of one target
    std::string how = "";               ///< how that is found; empty: the data is not there
    std::optional<Level> sequence = {}; ///< that all targets of a row are right; none: not known
    std::optional<Level> loss = {};     ///< cross-entropy of a target (nats); none: not known
  };
  virtual Chance chance(Form form) const = 0;

  /// The task with all rows of one length, in what its own option counts (copy: symbols, addition: digits, text: tokens
  /// of a window): as many rows of validation and test as this one has, or all that there are. The vocabulary is the
  /// same. Made once, and kept. Null where its rows have lengths of their own; throws heed::Refused where there is no
  /// row so long.
  const Task* of_length(std::int64_t length) const;

  /// What there is to say of the data before anything trains.
  struct Facts {
    std::string unit = "";                  ///< what the sizes count: "examples", "characters"
    std::array<std::int64_t, 3> sizes = {}; ///< by Split; -1: made anew for every step, without end
    std::array<std::string, 3> files = {};  ///< by Split: where its examples are from; empty where no file is read
    std::vector<std::string> notes = {};    ///< what was dropped, cut or repeated, a sentence each
  };
  virtual Facts facts() const { return {}; }
  /// What in the data is likely a mistake, a sentence each: words that look alike and differ, images of evaluation that
  /// are training's. May take as long as to read the data.
  virtual std::vector<std::string> warnings() const { return {}; }

  /// What the data is, for a run's identity: a hash of the content, or of the generator's version and options.
  virtual std::string fingerprint() const = 0;

  /// Text for tokens, for people and for `heed generate`: characters, or words with spaces between.
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
  /// Tokens of an input for text; throws heed::Refused that names what is not in the vocabulary.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// The same of an output that a sequence_to_sequence model's decoder is to read, without its begin and end.
  virtual std::vector<std::int32_t> encode_output(std::string_view text) const { return encode(text); }
  /// One token by itself, in UTF-8, as it stands at a picture's axis: of what `encode` gives (language_model: of any
  /// row), and of what a sequence_to_sequence model's decoder reads and puts out.
  virtual std::string token_text(std::int32_t token) const { return decode({&token, 1}); }
  virtual std::string output_token_text(std::int32_t token) const { return token_text(token); }
  /// Text for what a model of this form puts out: sequence_to_sequence: the tokens up to the first that ends an output,
  /// without the one that begins it; classification: the classes' names; language_model: as `decode`.
  virtual std::string decode_output(Form, std::span<const std::int32_t> tokens) const { return decode(tokens); }

private:
  virtual std::unique_ptr<Task> make_of_length(std::int64_t /*length*/) const { return nullptr; }

  mutable std::mutex making_;
  mutable std::map<std::int64_t, std::unique_ptr<Task>> of_length_;
};

/// Cross-entropy (nats) of validation's outcomes by training's frequencies: -sum_i v_i ln(t_i / sum t) / sum v. None where
/// training lacks one that validation has, or one of the two is empty.
/// @param training, validation  counts of each outcome, as many of both
std::optional<Task::Level> loss_by_frequencies(std::span<const std::int64_t> training,
                                               std::span<const std::int64_t> validation, const std::string& what);

/// The task that a configuration names; throws heed::Refused where there is none of that name, or where its data or its
/// options are not usable.
std::unique_ptr<Task> make_task(const Config& config);

} // namespace heed
