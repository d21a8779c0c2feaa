// The configuration of one run, resolved: every option has its value, and the combination is possible.
// A sweep's file is expanded into many of these (experiments/sweep).
#pragma once

#include "layers/layer_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// Top level.
struct GeneralOptions {
  std::string name; ///< for people; not part of a run's identity
  std::int64_t seed = 0;
  std::string precision = "float32"; ///< float32 | float64
};

/// [data]
struct DataOptions {
  std::string path;                  ///< the file of a task that reads one
  double train = 0.9;                ///< fraction of the file, from its beginning
  double test = 0.0;                 ///< fraction of the file, from its end; the rest between is for validation
  std::int64_t validation_rows = 0;  ///< instead of what is between: so many; 0: that
  std::int64_t test_rows = 0;        ///< instead of the fraction: so many; 0: that
  std::string validation_path = "";  ///< a file of their own for the validation's examples
  std::string test_path = "";        ///< likewise for the test's
  bool shuffle = true;               ///< rows of a file are shuffled before they are split
  std::string tokens = "characters"; ///< characters | bytes | words | sentencepiece
  std::int64_t min_count = 1;        ///< of a word in the training part
  std::int64_t max_vocabulary = 0;   ///< words, the unknown one included; 0: all
  std::string sentencepiece = "";    ///< the file of a SentencePiece model
  std::int64_t max_length = 0;       ///< tokens of an input, and of an output; 0: any
  std::string too_long = "drop";     ///< drop | cut: what becomes of longer ones
  std::int64_t bucket = 1;           ///< batches that are drawn together and sorted by length
};

/// [task]
struct TaskOptions {
  std::string kind = "copy";
  std::int64_t seed = 0;         ///< of the examples and their splits, shared by all replicates
  std::int64_t validation = 512; ///< examples of a generated task's validation split
  std::int64_t test = 512;       ///< likewise of its test split
};

/// [model]
struct ModelOptions {
  std::string kind = "decoder"; ///< decoder | encoder | encoder_decoder | recurrent | ...
  std::int64_t layers = 2;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  bool tied_embeddings = true;          ///< decoders: the output's weights are the token embeddings
  std::string embedding_scale = "none"; ///< none | sqrt: token embeddings are multiplied by sqrt(width)
  double init_std = 0.02;               ///< weights ~ N(0, init_std^2)
  bool scaled_init = true;              ///< residual projections: init_std / sqrt(2 layers)
  double dropout = 0.0;                 ///< of the embeddings
  std::string head_bias = "usual";      ///< usual (of the model) | yes | no: of the map to the logits
  bool shared_layers = false;           ///< do all blocks of a stack have the parameters of the first?
};

/// [init]: init_std (normal, by model.init_std) | xavier_uniform | xavier_normal | torch | a standard deviation
struct InitOptions {
  WordOrNumber embedding{"init_std", 0}; ///< token embeddings
  WordOrNumber position{"init_std", 0};  ///< learned vectors of positions
  WordOrNumber linear{"init_std", 0};    ///< linear maps and convolutions but the head
  WordOrNumber head{"init_std", 0};      ///< the map to the logits, where it has weights of its own
  std::string qkv = "separate";          ///< separate | joint: matrices that count for Xavier's fans
};

/// [train]
struct TrainOptions {
  std::int64_t steps = 1000;
  std::int64_t batch = 32;           ///< sequences in a step
  std::int64_t batch_tokens = 0;     ///< instead: as many as fit into so many tokens; 0: batch
  bool full_batch = false;           ///< instead: all of training, where that is a list
  std::int64_t shards = 2;           ///< parts of a batch; changes bits, so part of the identity
  std::int64_t threads = 0;          ///< 0: as many as the machine has, at most the shards
  std::string optimizer = "adamw";   ///< adamw | adam | sgd, options in [train.adamw] and so on
  std::string schedule = "constant"; ///< constant | linear | cosine | noam
  double learning_rate = 1e-3;       ///< the highest
  std::int64_t warmup = 0;           ///< steps; the rate is multiplied by (step + 1) / (warmup + 1) before
  double clip = 0.0;                 ///< global gradient norm; 0: no clipping
  double label_smoothing = 0.0;
  std::int64_t evaluate_every = 0;            ///< steps; 0: only at the end
  std::int64_t evaluate_batches = 0;          ///< batches of the validation split; 0: the whole split
  std::int64_t evaluate_random_batches = 0;   ///< an estimate of the loss from so many; 0: none
  bool evaluate_by_length = false;            ///< accuracies also by the length of rows
  std::vector<std::int64_t> evaluate_lengths; ///< evaluations also measure on rows of these lengths, made for it
  std::int64_t evaluate_beam = 0;             ///< evaluations decode, too, with this beam; 1: greedily; 0: not
  double evaluate_length_penalty = 0.0;
  std::string evaluate_length_penalty_kind = "gnmt"; ///< gnmt | fairseq
  std::string evaluate_bleu_tokenization = "13a";    ///< 13a | none | intl | char
  /// none | norms | attention | heads | all | scores | layers | everything: what is looked at inside the model
  std::string inspect = "none";
  std::int64_t inspect_every = 0;    ///< steps; 0: only at the end
  std::int64_t checkpoint_every = 0; ///< steps; 0: only at the end
  std::int64_t keep_checkpoints = 2; ///< the newest so many
  std::int64_t log_every = 10;       ///< steps between the lines of training loss in metrics.jsonl

  /// How many rows a step has is for the task to say, and `batch` doesn't.
  bool rows_by_task() const { return batch_tokens > 0 || full_batch; }
};

/// [engine]
struct EngineOptions {
  std::string kernels = "auto"; ///< auto | baseline | avx2 | avx512; only those named are the same bits on every CPU
};

/// [report]
struct ReportOptions {
  std::string metric = "val_loss";  ///< what decides
  std::vector<std::string> also;    ///< further metrics, one family of comparisons with it
  WordOrNumber margin{"none", 0};   ///< none | a number, in the metric's unit: differences that nobody cares about
  std::string test = "paired";      ///< paired | unpaired: what runs are compared with
  WordOrNumber learned{"found", 0}; ///< found | a number: the metric's value from which on a seed has learned
  std::string question;             ///< what the sweep asks, for people
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
  PositionOptions position;
  OptionValues position_options;   ///< [position.KIND]
  std::vector<LayerChoice> layers; ///< one for each of the model's blocks, overrides applied
  TrainOptions train;
  OptionValues optimizer_options; ///< [train.OPTIMIZER]
  OptionValues schedule_options;  ///< [train.SCHEDULE]
  EngineOptions engine;
  ReportOptions report;
  /// Options of a saved configuration that do nothing in it and that earlier versions accepted there: its identity has
  /// them (`Settings::parse_saved`).
  std::vector<std::string> without_effect;

  Config();
  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(const Config&);
  Config& operator=(Config&&) noexcept;
  ~Config();

  bool float64() const { return general.precision == "float64"; }
};

} // namespace heed
