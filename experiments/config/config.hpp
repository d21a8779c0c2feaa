// The resolved configuration of one run: every option has its value, and the combination of values is valid. The file
// of a sweep is expanded into many of these configurations (experiments/sweep).
#pragma once

#include "experiments/config/settings.hpp"
#include "layers/layer_options.hpp"
#include "options/variant.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Top level.
struct GeneralOptions {
  std::string name;      ///< a label for readers; not part of a run's identity
  std::int64_t seed = 0; ///< of the initial weights, the order of the data and the dropout, unless they have their own
  std::string precision = "float32"; ///< float32 | float64
};

/// [data]
struct DataOptions {
  std::string path;   ///< the data file, for tasks that read one
  double train = 0.9; ///< fraction of the file for training, taken from its beginning
  /// Fraction of the file for the test, taken from its end; the examples between are for validation
  double test = 0.0;
  /// Number of validation examples; 0: the examples between the fractions `train` and `test`
  std::int64_t validation_rows = 0;
  std::int64_t test_rows = 0;       ///< number of test examples; 0: the fraction `test`
  std::string validation_path = ""; ///< a separate file with the validation examples
  std::string test_path = "";       ///< a separate file with the test examples
  /// Further validation sets, "NAME = FILE" each (`validation_sets`)
  std::vector<std::string> validation_sets = {};
  bool shuffle = true;               ///< shuffle the examples of a file before they are split
  std::string tokens = "characters"; ///< characters | bytes | words | sentencepiece
  std::int64_t min_count = 1;        ///< minimum number of occurrences of a word in the training part
  std::int64_t max_vocabulary = 0;   ///< maximum number of words, including the unknown word; 0: no limit
  std::string sentencepiece = "";    ///< the file of a SentencePiece model
  std::int64_t max_length = 0;       ///< maximum number of tokens of an input and of an output; 0: no limit
  std::string too_long = "drop";     ///< drop | cut: what is done with longer inputs and outputs
  std::int64_t bucket = 1;           ///< number of batches that are drawn together and sorted by length
  std::int64_t order_seed = -1;      ///< seed of the order of the training examples; -1: GeneralOptions::seed
  std::int64_t split_seed = -1;      ///< seed of the splits; -1: TaskOptions::seed
};

/// [task]
struct TaskOptions {
  std::string kind = "copy";
  std::int64_t seed = 0;         ///< seed of the examples and their splits, shared by all replicates
  std::int64_t validation = 512; ///< number of examples in the validation split of a generated task
  std::int64_t test = 512;       ///< number of examples in the test split of a generated task
};

/// [model]
struct ModelOptions {
  std::string kind = "decoder"; ///< decoder | encoder | encoder_decoder | recurrent | ...
  std::int64_t layers = 2;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  bool tied_embeddings = true;          ///< decoders: the output layer shares its weights with the token embeddings
  std::string embedding_scale = "none"; ///< none | sqrt: token embeddings are multiplied by sqrt(width)
  bool embedding_norm = false;          ///< is there a norm after the embeddings and their positions?
  double init_std = 0.02;               ///< weights ~ N(0, init_std^2)
  bool scaled_init = true;              ///< residual projections: init_std / sqrt(2 layers)
  double dropout = 0.0;                 ///< dropout rate of the embeddings
  std::string head_bias = "usual";      ///< bias of the output layer: usual (the model's default) | yes | no
  std::int64_t registers = 0;           ///< learned tokens before each sequence of a stack of blocks
  std::string segment_end = "";         ///< the text that ends a segment, for formulas with segments; empty: none
  bool shared_layers = false;           ///< true: all blocks of a stack share the parameters of the first block
};

/// [init]: init_std (normal, by model.init_std) | xavier_uniform | xavier_normal | torch | a standard deviation
struct InitOptions {
  WordOrNumber embedding{"init_std", 0}; ///< token embeddings
  WordOrNumber position{"init_std", 0};  ///< learned position embeddings
  WordOrNumber linear{"init_std", 0};    ///< linear layers and convolutions, without the output layer
  WordOrNumber head{"init_std", 0};      ///< the output layer, if it has its own weights
  /// separate | joint: Xavier's fan-in and fan-out use the separate query, key and value matrices or their joint matrix
  std::string qkv = "separate";
  std::int64_t seed = -1; ///< seed of the initial weights; -1: GeneralOptions::seed
};

/// [train]
struct TrainOptions {
  std::int64_t steps = 1000;
  /// The ID of a finished run whose last weights replace the initial ones; empty: none
  std::string start;
  std::string start_weights = "all"; ///< all | matching: the weights that are taken
  std::string start_checksum;        ///< of the start's step and weights (runs/run_start.hpp); plans set it
  std::int64_t batch = 32;           ///< sequences per step
  /// Instead of `batch`: as many sequences as fit into this number of tokens; 0: use `batch`
  std::int64_t batch_tokens = 0;
  /// Instead of `batch`: all training examples; only if training uses a list of examples
  bool full_batch = false;
  /// Parts of a batch; the number affects the last bits of results, so it is part of the run's identity
  std::int64_t shards = 4;
  std::int64_t threads = 0;          ///< 0: as many as the machine has, at most 16
  std::string optimizer = "adamw";   ///< adamw | adam | sgd; their options are in [train.adamw] etc.
  std::string schedule = "constant"; ///< constant | linear | cosine | noam
  double learning_rate = 1e-3;       ///< the maximum of the schedule
  std::int64_t warmup = 0;           ///< warm-up steps, in which the rate is multiplied by (step + 1) / (warmup + 1)
  double clip = 0.0;                 ///< maximum norm of the global gradient; 0: no clipping
  double label_smoothing = 0.0;
  std::int64_t dropout_seed = -1;           ///< seed of the dropout; -1: GeneralOptions::seed
  std::int64_t evaluate_every = 0;          ///< steps between evaluations; 0: only at the end
  std::int64_t evaluate_batches = 0;        ///< validation batches per evaluation; 0: the whole split
  std::int64_t evaluate_random_batches = 0; ///< random batches for an estimate of the loss; 0: no estimate
  bool evaluate_by_length = false;          ///< also report accuracies by sequence length
  /// Evaluations also measure sequences of these lengths, which are made for this purpose
  std::vector<std::int64_t> evaluate_lengths;
  /// Beam size with which evaluations also decode; 1: greedy; 0: no decoding
  std::int64_t evaluate_beam = 0;
  double evaluate_length_penalty = 0.0;
  std::string evaluate_length_penalty_kind = "gnmt"; ///< gnmt | fairseq
  std::string evaluate_bleu_tokenization = "13a";    ///< 13a | none | intl | char
  /// none | norms | attention | heads | all | scores | layers | everything: the internals of the model that are
  /// inspected
  std::string inspect = "none";
  std::int64_t inspect_every = 0;    ///< steps between inspections; 0: only at the end
  std::int64_t checkpoint_every = 0; ///< steps between checkpoints; 0: only at the end
  std::int64_t keep_checkpoints = 2; ///< number of newest checkpoints to keep
  std::int64_t log_every = 10;       ///< steps between the lines of training loss in metrics.jsonl

  /// True if the task determines the number of sequences of a step, and `batch` does not.
  bool sequences_by_task() const { return batch_tokens > 0 || full_batch; }
};

/// [engine]
struct EngineOptions {
  /// Instruction set: auto | baseline | avx2 | avx512; every value but auto gives the same bits on every CPU
  std::string kernels = "auto";
};

/// [report]
struct ReportOptions {
  std::string metric = "val_loss";  ///< the metric that decides the comparison
  std::vector<std::string> also;    ///< further metrics; together with `metric` they are one family of comparisons
  WordOrNumber margin{"none", 0};   ///< none | a number in the metric's unit: differences below it are irrelevant
  std::string answer = "same";      ///< same | not worse: what a margin is for (statistics::Question)
  std::string test = "paired";      ///< paired | unpaired: the statistical test that compares runs
  WordOrNumber learned{"found", 0}; ///< found | a number: a seed has learned if its metric reaches this value
  std::string over = "none";        ///< none | these tasks | tasks like these: one answer over the groups
  std::string scale = "metric";     ///< metric | chance to best | numbers: what differences of tasks are divided by
  std::string question;             ///< the question that the sweep answers, for readers
  bool examples = false;            ///< also states differences over other examples
  std::vector<std::string> attend;  ///< inputs whose attention weights the report shows
};

struct Config {
  GeneralOptions general;
  DataOptions data;
  TaskOptions task;
  OptionValues task_options; ///< [task.KIND]
  ModelOptions model;
  InitOptions init;
  OptionValues model_options; ///< [model.KIND]
  RecurrentOptions recurrent;
  OptionValues recurrent_options;           ///< [recurrent.CELL]
  OptionValues recurrent_attention_options; ///< [recurrent.ATTENTION]
  std::vector<LayerChoice> layers;          ///< one per block of the model (or of its encoder), with overrides applied
  /// One per block of the decoder of an encoder-decoder; empty for other models
  std::vector<LayerChoice> decoder_layers;
  TrainOptions train;
  OptionValues optimizer_options; ///< [train.OPTIMIZER]
  OptionValues schedule_options;  ///< [train.SCHEDULE]
  EngineOptions engine;
  ReportOptions report;
  /// Not an option: if not empty, validation has the examples of this file of [data] validation_sets, and training is
  /// as without it.
  std::string of_set;

  Config();
  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(const Config&);
  Config& operator=(Config&&) noexcept;
  ~Config();

  bool float64() const { return general.precision == "float64"; }
  /// The seeds of the sources of chance: their own, or the run's or the task's.
  std::uint64_t init_seed() const { return seed_or(init.seed, general.seed); }
  std::uint64_t order_seed() const { return seed_or(data.order_seed, general.seed); }
  std::uint64_t dropout_seed() const { return seed_or(train.dropout_seed, general.seed); }
  std::uint64_t split_seed() const { return seed_or(data.split_seed, task.seed); }
  /// True if the condition holds for some block.
  template <class F> bool any_block(const F& condition) const {
    return std::ranges::any_of(layers, condition) || std::ranges::any_of(decoder_layers, condition);
  }

private:
  static std::uint64_t seed_or(std::int64_t own, std::int64_t other) {
    return static_cast<std::uint64_t>(own >= 0 ? own : other);
  }
};

/// An option that differs: its full name and both values in TOML syntax. A value is empty if the option has no effect
/// in that configuration. Values of single blocks are named "block[2].attention.score".
struct Difference {
  std::string key, a, b;
};

/// All differences, in the order of the catalogue.
std::vector<Difference> difference(const Config& a, const Config& b);

/// The configuration of an empty file.
Config default_config();

/// Increases whenever the same file gives different bits than before: because results of any configuration changed, or
/// because an option has another default. If only the results of one variant changed, the number in its record
/// (`Variant::numerics`) increases instead, and the IDs of runs without this variant stay.
inline constexpr int numerics_version = 13;

struct VariantInUse {
  std::string name; ///< with its table: "attention.softpick"
  const Variant* variant;
};
/// The variants and the parts of attention that a configuration uses, in the model or in some block, each once.
std::vector<VariantInUse> variants_in_use(const std::vector<FlatOption>& options);

/// "13", followed by the variants whose results have changed since: "13, attention.softpick 2".
std::string numerics_text(const std::vector<VariantInUse>& variants);

/// The numerics of a configuration. They are part of a run's identity, so runs of different numerics are never mixed.
std::string numerics_of(const std::vector<FlatOption>& options);

/// Whether a task's examples and splits may depend on the option. The order of training does not change them.
inline bool decides_data(std::string_view key) {
  return (key.starts_with("data.") || key.starts_with("task.")) && key != "data.order_seed";
}

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
