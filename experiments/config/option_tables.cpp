#include "experiments/config/option_tables.hpp"

#include "experiments/config/values.hpp"

namespace heed {

// clang-format off

const OptionTable<GeneralOptions>& general_option_table() {
  using O = GeneralOptions;
  static const auto table = option_table<O>(
      option("name", &O::name, "What people call the experiment.")
          .default_means("the file's name").without_effect_on_results(),
      option("seed", &O::seed, "Seed of the weights, the order of the data and the dropout.")
          .at_least(0).at_most(largest_seed),
      option("precision", &O::precision, "The numbers that the run computes with.").one_of({"float32", "float64"}));
  return table;
}

const OptionTable<DataOptions>& data_option_table() {
  using O = DataOptions;
  static const auto table = option_table<O>(
      // A run's identity contains the data's content instead of the path.
      option("path", &O::path, "The file of a task that reads one, seen from the folder that heed is started in.")
          .default_means("no file").without_effect_on_results(),
      option("train", &O::train, "Fraction of data.path, from its beginning, that is for training, rounded down.")
          .above(0).below(1),
      option("test", &O::test, "Fraction of data.path, from its end, that is for the test; the rest is for validation.")
          .at_least(0).below(1),
      option("validation_rows", &O::validation_rows,
             "Rows of data.path that are for validation, as a number; all that the test leaves are for training.")
          .at_least(0).at_most(1e12).unit("rows").default_means("0: what data.train and the test leave").neutral(0),
      option("test_rows", &O::test_rows, "Rows of data.path, from its end, that are for the test, as a number.")
          .at_least(0).at_most(1e12).unit("rows").default_means("0: the fraction data.test").neutral(0),
      option("validation_path", &O::validation_path,
             "A file of their own for the validation's examples; what the test leaves of data.path is for training.")
          .default_means("none: a part of data.path").without_effect_on_results(),
      option("test_path", &O::test_path, "A file of their own for the test's examples.")
          .default_means("none: a part of data.path").without_effect_on_results(),
      option("validation_sets", &O::validation_sets,
             "Further files to evaluate, as \"NAME = FILE\" each: each metric of validation has a further one of the "
             "file's rows, such as val_loss_on.NAME. Training is the same with or without them.")
          .default_means("none").without_effect_on_results(),
      option("shuffle", &O::shuffle,
             "The rows of a file are put into a random order, by task.seed, before they are split."),
      option("tokens", &O::tokens,
             "What a token is: characters are Unicode code points, words stand between white space. "
             "Punctuation therefore stays with its word (awful. is another word than awful): put spaces around it in "
             "the file, or take characters or sentencepiece."),
      option("min_count", &O::min_count, "How often a word must occur in the training part to be known.")
          .at_least(1).at_most(1e9).unit("times"),
      option("max_vocabulary", &O::max_vocabulary,
             "Size of the vocabulary, its unknown word included; the commonest words are kept.")
          .at_least(0).at_most(1e7).unit("words").default_means("0: all words"),
      option("sentencepiece", &O::sentencepiece, "The file of a SentencePiece model.")
          .default_means("no file").without_effect_on_results(),
      option("max_length", &O::max_length, "The most tokens that an input may have, and an output.")
          .at_least(0).at_most(1 << 20).unit("tokens").default_means("0: any number"),
      option("too_long", &O::too_long, "What becomes of rows above data.max_length: they are dropped, or cut to it.")
          .one_of({"drop", "cut"}),
      option("bucket", &O::bucket,
             "Batches that are gathered and sorted by length, so that the rows of a step are of like lengths.")
          .at_least(1).at_most(1e6).unit("batches").default_means("1: no buckets"));
  return table;
}

const OptionTable<TaskOptions>& task_option_table() {
  using O = TaskOptions;
  static const auto table = option_table<O>(
      option("kind", &O::kind, "What the model learns to do."),
      option("seed", &O::seed, "Seed of the generated examples and their splits, shared by all replicates.")
          .at_least(0).at_most(largest_seed),
      option("validation", &O::validation, "Size of a generated task's validation split.")
          .at_least(1).at_most(1e8).unit("examples").default_means("512: or fewer, where there are no more"),
      option("test", &O::test, "Size of a generated task's test split.")
          .at_least(1).at_most(1e8).unit("examples").default_means("512: or fewer, where there are no more"));
  return table;
}

const OptionTable<ModelOptions>& model_option_table() {
  using O = ModelOptions;
  static const auto table = option_table<O>(
      option("kind", &O::kind, "The model."),
      option("layers", &O::layers, "Number of Transformer blocks.").at_least(1).at_most(1024).unit("blocks"),
      option("width", &O::width, "Width of the embeddings and of what flows between the blocks.")
          .at_least(1).at_most(65536).unit("features"),
      option("heads", &O::heads, "Attention heads in each block.").at_least(1).at_most(4096).unit("heads"),
      option("tied_embeddings", &O::tied_embeddings, "The output's weights are the token embeddings."),
      option("embedding_scale", &O::embedding_scale,
             "What token embeddings are multiplied with: nothing, or the square root of the width (Vaswani 2017).")
          .one_of({"none", "sqrt"}),
      option("init_std", &O::init_std, "Standard deviation of the initial weights, which are normal around 0.")
          .above(0).at_most(100),
      option("scaled_init", &O::scaled_init,
             "Weights that end in a residual connection start smaller, at init_std / sqrt(2 * layers)."),
      option("dropout", &O::dropout, "Fraction of the embeddings that are zeroed in training.").at_least(0).below(1),
      option("head_bias", &O::head_bias,
             "The map to the logits has a bias, a tied one too: as is usual for the model (classifiers and recurrent "
             "models have one, decoder and encoder_decoder none), yes, or no.")
          .one_of({"usual", "yes", "no"}).neutral("usual"),
      option("shared_layers", &O::shared_layers,
             "All blocks of a stack have the same parameters: one block is applied as many times as there are layers "
             "(Dehghani 2019, arXiv 1807.03819; Lan 2020, arXiv 1909.11942).")
          .neutral(false));
  return table;
}

const OptionTable<InitOptions>& init_option_table() {
  using O = InitOptions;
  const std::vector<std::string> words = {"init_std", "xavier_uniform", "xavier_normal", "torch"};
  const WordOrNumber as_before{"init_std", 0};
  static const auto table = option_table<O>(
      option("embedding", &O::embedding,
             "What token embeddings start with: N(0, model.init_std^2); Xavier's uniform or normal numbers by the "
             "vocabulary and the width; N(0, 1), as torch.nn.Embedding; or a number s for N(0, s^2).")
          .one_of(words).above(0).at_most(100).neutral(as_before),
      option("position", &O::position, "What learned vectors of positions start with, likewise.")
          .one_of(words).above(0).at_most(100).neutral(as_before),
      option("linear", &O::linear,
             "What linear maps and convolutions but the head start with: N(0, model.init_std^2), where the layer has "
             "no start of its own; Xavier's uniform or normal numbers; U(-1 / sqrt(inputs), 1 / sqrt(inputs)), biases "
             "too, as torch.nn.Linear; or a number s for N(0, s^2). Recurrent cells and scores keep their own.")
          .one_of(words).above(0).at_most(100).neutral(as_before),
      option("head", &O::head, "What the map to the logits starts with where it has weights of its own, likewise.")
          .one_of(words).above(0).at_most(100).neutral(as_before),
      option("qkv", &O::qkv,
             "What Xavier's numbers take for the outputs of an attention's three matrices: each its own, or all three "
             "together, as torch.nn.MultiheadAttention (fairseq's factor 1 / sqrt(2)).")
          .one_of({"separate", "joint"}).neutral("separate"));
  return table;
}

const OptionTable<TrainOptions>& train_option_table() {
  using O = TrainOptions;
  static const auto table = option_table<O>(
      option("steps", &O::steps, "Optimiser steps; 0: the model as it starts is evaluated and looked at.")
          .at_least(0).at_most(1e12).unit("steps"),
      option("batch", &O::batch, "Sequences in a step, and in a batch of an evaluation.")
          .at_least(1).at_most(1e6).unit("sequences"),
      option("batch_tokens", &O::batch_tokens,
             "A step's rows are of like lengths, and as many as fit into so many tokens: rows times the longest, of "
             "input or output (fairseq's max_tokens).")
          .at_least(0).at_most(1e9).unit("tokens").default_means("0: train.batch rows").neutral(0),
      option("full_batch", &O::full_batch, "Each step has every training row, once.").neutral(false),
      option("shards", &O::shards,
             "Parts of a batch that threads work on at the same time. The order of sums depends on it, and so do the "
             "last bits of results. More threads than shards share the work within a shard.")
          .at_least(1).at_most(4096).unit("shards")
          .default_means("4; 2 for a small or recurrent model; at most train.batch"),
      option("threads", &O::threads, "Threads of a run. The results do not depend on it.")
          .at_least(0).at_most(4096).unit("threads")
          .default_means("0: as many as the machine has, at most 16").without_effect_on_results(),
      option("optimizer", &O::optimizer, "What turns gradients into steps."),
      option("schedule", &O::schedule, "How the learning rate changes after the warm-up."),
      option("learning_rate", &O::learning_rate, "The highest learning rate.").above(0).at_most(1e6),
      option("warmup", &O::warmup, "Steps before which the learning rate is multiplied by (step + 1) / (warmup + 1).")
          .at_least(0).at_most(1e12).unit("steps"),
      option("clip", &O::clip, "Gradients are scaled down to this global norm where theirs is larger.")
          .at_least(0).default_means("0: no clipping"),
      option("label_smoothing", &O::label_smoothing,
             "Share of the target's probability that is spread over all classes.")
          .at_least(0).below(1),
      option("evaluate_every", &O::evaluate_every, "Steps between evaluations on the validation split.")
          .at_least(0).at_most(1e12).unit("steps").default_means("0: only at the end"),
      option("evaluate_batches", &O::evaluate_batches, "Batches of the validation split in an evaluation.")
          .at_least(0).at_most(1e12).unit("batches").default_means("0: the whole split"),
      option("evaluate_random_batches", &O::evaluate_random_batches,
             "Evaluations also estimate the loss from so many batches of train.batch random rows (of a text: windows "
             "from anywhere), drawn anew at every step, as nanoGPT does.")
          .at_least(0).at_most(1e6).unit("batches").default_means("0: they do not").neutral(0),
      option("evaluate_by_length", &O::evaluate_by_length,
             "Evaluations also give accuracies for rows of each length: of the output, or of a classifier's input."),
      option("evaluate_lengths", &O::evaluate_lengths,
             "Evaluations also measure on rows of these lengths, which the task makes for it as if they were its own "
             "(copy: length, addition: digits, recall: pairs, text: block), beyond training's too.")
          .at_least(1).at_most(1 << 20).default_means("none").neutral({}),
      option("evaluate_beam", &O::evaluate_beam,
             "Evaluations of a sequence-to-sequence model decode the split, too, with a beam so wide (1: greedily), "
             "and give the accuracy, BLEU and chrF of what comes out.")
          .at_least(0).at_most(1024).unit("outputs").default_means("0: they do not"),
      option("evaluate_length_penalty", &O::evaluate_length_penalty,
             "That search's alpha: an output of n tokens has its log probability divided by ((5 + n) / 6)^alpha.")
          .at_least(0).at_most(100),
      option("evaluate_length_penalty_kind", &O::evaluate_length_penalty_kind,
             "What that alpha is the power of: (5 + n) / 6 (gnmt: Wu et al. 2016), or n itself (fairseq).")
          .one_of({"gnmt", "fairseq"}).neutral("gnmt"),
      option("evaluate_bleu_tokenization", &O::evaluate_bleu_tokenization,
             "What BLEU takes for words, by sacreBLEU's names: mteval's rules for Western languages (13a), for all "
             "languages (intl), what stands between white space (none), or characters (char).")
          .neutral("13a"),
      option("inspect", &O::inspect,
             "What is measured inside the model: norms of gradients and outputs by module; each attention head's "
             "entropy and distance (attention); these and what each head is worth (heads); these and the norms (all). "
             "With attention, also the variance of scores and the weight of the first key (scores); with norms, also "
             "those of weights and of whole layers, and how near a layer's tokens are to one vector (layers); or "
             "everything.")
          .one_of({"none", "norms", "attention", "heads", "all", "scores", "layers", "everything"}),
      option("inspect_every", &O::inspect_every, "Steps between looks inside the model.")
          .at_least(0).at_most(1e12).unit("steps").default_means("0: only at the end"),
      option("checkpoint_every", &O::checkpoint_every, "Steps between checkpoints.")
          .at_least(0).at_most(1e12).unit("steps").default_means("0: only at the end").without_effect_on_results(),
      option("keep_checkpoints", &O::keep_checkpoints, "How many of the newest checkpoints are kept.")
          .at_least(2).at_most(1e6).unit("checkpoints").without_effect_on_results(),
      option("log_every", &O::log_every, "Steps between the lines of training loss in metrics.jsonl.")
          .at_least(1).at_most(1e12).unit("steps"));
  return table;
}

const OptionTable<EngineOptions>& engine_option_table() {
  using O = EngineOptions;
  static const auto table = option_table<O>(
      option("kernels", &O::kernels,
             "Instructions that the engine computes with: the fastest that the build and the CPU have, or those that "
             "are named here. Results are the same bits only with the same ones; the run's manifest says which.")
          .one_of({"auto", "baseline", "avx2", "avx512"}).neutral("auto"));
  return table;
}

const OptionTable<ReportOptions>& report_option_table() {
  using O = ReportOptions;
  static const auto table = option_table<O>(
      option("metric", &O::metric,
             "The metric that decides, such as val_loss. A range of lengths is a metric, too: val_accuracy_at.13-24 is "
             "the mean over those of train.evaluate_lengths from 13 to 24, val_accuracy_by_length.13-24 that over the "
             "split's own lengths (train.evaluate_by_length).")
          .without_effect_on_results(),
      option("also", &O::also,
             "Further metrics that are compared. p is then corrected over all arms and all of these metrics together.")
          .default_means("none").without_effect_on_results(),
      option("margin", &O::margin,
             "How far from the reference counts as the same, in the metric's unit: none, or a number. With a number, "
             "reports also test for equivalence.")
          .one_of({"none"}).above(0).without_effect_on_results(),
      option("test", &O::test,
             "What an arm's runs are compared with: the reference's runs of the same seeds, or all of them alike. "
             "Unpaired finds more where seeds pair badly.")
          .one_of({"paired", "unpaired"}).without_effect_on_results(),
      option("learned", &O::learned,
             "The value of the metric at which a seed counts as one that learned: a number, or found, from a gap "
             "between two groups of outcomes.")
          .one_of({"found"}).without_effect_on_results(),
      option("question", &O::question, "What the sweep asks; reports begin with it.")
          .without_effect_on_results(),
      option("attend", &O::attend, "Inputs whose attention weights the report shows; of images, \"row 0\" and so on.")
          .default_means("none").without_effect_on_results());
  return table;
}

// clang-format on

} // namespace heed
