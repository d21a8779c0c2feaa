// The option tables of the structs in config.hpp. The tables of the layers are in layers/layer_options. Words that
// other modules register (`Registry::words`) are not in these tables; the catalogue adds them.
#include "experiments/config/catalogue.hpp"

#include "experiments/config/values.hpp"

namespace heed {

// clang-format off

const OptionTable<GeneralOptions>& general_option_table() {
  using O = GeneralOptions;
  static const auto table = option_table<O>(
      option("name", &O::name, "The experiment's name.")
          .default_means("the file's name").without_effect_on_results(),
      option("seed", &O::seed, "Seed of the initial weights, the order of the data and the dropout. Each of "
             "them can have its own: init.seed, data.order_seed, train.dropout_seed.")
          .between(0, largest_seed),
      option("precision", &O::precision,
             "The floating-point type of all computations.").one_of({"float32", "float64"}));
  return table;
}

const OptionTable<DataOptions>& data_option_table() {
  using O = DataOptions;
  static const auto table = option_table<O>(
      // A run's identity contains the data's content instead of the path.
      option("path", &O::path,
             "The data file, for tasks that read one. A relative path starts at the folder in which heed is started.")
          .default_means("no file").without_effect_on_results(),
      option("train", &O::train, "Fraction of data.path for training, from its beginning, rounded down.")
          .above(0).below(1).unless("data.validation_path", {any_value}).unless("data.validation_rows", {any_value}),
      option("test", &O::test,
             "Fraction of data.path for the test split, from its end. The remainder is the validation split.")
          .at_least(0).below(1).unless("data.test_path", {any_value}).unless("data.test_rows", {any_value}),
      option("validation_rows", &O::validation_rows,
             "Number of examples of data.path in the validation split. All examples outside of it and of the test "
             "split are for training.")
          .between(0, 1e12).unit("examples").default_means("0: the remainder of data.path")
          .unless("data.validation_path", {any_value}),
      option("test_rows", &O::test_rows, "Number of examples of data.path in the test split, from its end.")
          .between(0, 1e12).unit("examples").default_means("0: the fraction data.test")
          .unless("data.test_path", {any_value}),
      option("validation_path", &O::validation_path,
             "A file of their own for the validation's examples; what the test leaves of data.path is for training.")
          .default_means("none: a part of data.path").without_effect_on_results().only_if("data.path", {any_value}),
      option("test_path", &O::test_path, "A file of their own for the test's examples.")
          .default_means("none: a part of data.path").without_effect_on_results().only_if("data.path", {any_value}),
      option("validation_sets", &O::validation_sets,
             "Further files to evaluate, each written \"NAME = FILE\": validation_sets = [\"long = long.tsv\"] "
             "measures each metric of validation also on the examples of long.tsv, such as val_loss_on.long. Training "
             "is the same with or without them.")
          .default_means("none").without_effect_on_results().only_if("data.path", {any_value}),
      option("shuffle", &O::shuffle,
             "The examples of a file are shuffled, with task.seed or data.split_seed, before they are split."),
      option("tokens", &O::tokens,
             "What a token is: characters are Unicode code points, words are separated by white space. Punctuation is "
             "part of its word (awful. and awful are two words). To separate it, put spaces around it in the file, or "
             "use characters or sentencepiece."),
      option("min_count", &O::min_count, "How often a word must occur in the training split to be in the vocabulary.")
          .between(1, 1e9).unit("times").only_if("data.tokens", {"words"}),
      option("max_vocabulary", &O::max_vocabulary,
             "Largest size of the vocabulary, with the unknown word. The most frequent words are in it.")
          .between(0, 1e7).unit("words").default_means("0: all words").only_if("data.tokens", {"words"}),
      option("sentencepiece", &O::sentencepiece, "The file of a SentencePiece model.")
          .default_means("no file").without_effect_on_results().only_if("data.tokens", {"sentencepiece"}),
      option("max_length", &O::max_length, "The most tokens of an input, and the most of an output.")
          .between(0, 1 << 20).unit("tokens").default_means("0: no limit"),
      option("too_long", &O::too_long,
             "What happens to examples longer than data.max_length: they are dropped, or cut to this length.")
          .one_of({"drop", "cut"}),
      option("bucket", &O::bucket,
             "Number of batches that are collected and sorted by length. The sequences of a step then have similar "
             "lengths.")
          .between(1, 1e6).unit("batches").default_means("1: no buckets")
          .unless("train.batch_tokens", {any_value}).unless("train.full_batch", {"true"}),
      option("order_seed", &O::order_seed,
             "Seed of the training examples that each step gets: their order, and of a generated task their draws.")
          .between(-1, largest_seed).default_means("-1: seed").only_if("train.steps", {any_value}),
      option("split_seed", &O::split_seed,
             "Seed that decides which examples are for training, validation and test. Replicates share it.")
          .between(-1, largest_seed).default_means("-1: task.seed").unless("data.shuffle", {"false"})
          .unless("data.validation_path", {any_value}).or_if("data.test", {any_value})
          .or_if("data.test_rows", {any_value}));
  return table;
}

const OptionTable<TaskOptions>& task_option_table() {
  using O = TaskOptions;
  static const auto table = option_table<O>(
      option("kind", &O::kind, "What the model learns to do."),
      option("seed", &O::seed, "Seed of the generated examples and their splits, shared by all replicates.")
          .between(0, largest_seed),
      option("validation", &O::validation, "Size of a generated task's validation split.")
          .between(1, 1e8).unit("examples").default_means("512, or fewer if the task has no more examples")
          .unless("data.validation_path", {any_value}),
      option("test", &O::test, "Size of a generated task's test split.")
          .between(1, 1e8).unit("examples").default_means("512, or fewer if the task has no more examples"));
  return table;
}

const OptionTable<ModelOptions>& model_option_table() {
  using O = ModelOptions;
  static const auto table = option_table<O>(
      option("kind", &O::kind, "The model."),
      option("layers", &O::layers, "Number of Transformer blocks.").between(1, 1024).unit("blocks")
          .of_blocks(),
      option("width", &O::width, "Width of the embeddings and of the activations between the blocks (d_model).")
          .between(1, 65536).unit("features"),
      option("heads", &O::heads, "Attention heads in each block.").between(1, 4096).unit("heads")
          .of_blocks(),
      option("tied_embeddings", &O::tied_embeddings, "The output layer uses the token embeddings as its weights."),
      option("embedding_scale", &O::embedding_scale,
             "Factor of the token embeddings: 1 (none), or the square root of the width (sqrt; Vaswani 2017).")
          .one_of({"none", "sqrt"}).of_blocks(),
      option("embedding_norm", &O::embedding_norm,
             "A norm after the embeddings and their positions, and of registers, of the kind block.norm_kind (as in "
             "BERT and BLOOM).")
          .of_blocks(),
      option("registers", &O::registers,
             "Number of learned tokens before the sequence (register tokens). All positions see them, they have no "
             "position, and they are dropped after the last block. In causal attention they see only each other, "
             "persistent keys and a prefix.")
          .between(0, 65536).unit("tokens").default_means("0: none").of_blocks(),
      option("init_std", &O::init_std,
             "Standard deviation of the initial weights, which are drawn from a normal distribution with mean 0.")
          .above(0).at_most(100).only_if("init.linear", {"init_std"}).or_if("init.embedding", {"init_std"})
          .or_if("init.position", {"init_std"}).or_if("init.head", {"init_std"}).initial_value(),
      option("scaled_init", &O::scaled_init,
             "The last weights before a residual connection start smaller, with init_std / sqrt(2 * layers).")
          .unless("init.linear", {"xavier_uniform", "xavier_normal", "torch"})
          .unless("attention.projection", {"identity"}).or_if("block.ffn", {"true"})
          .or_if("attention.cross_projection", {"dense", "latent", "shared_key_value"}).initial_value().of_blocks(),
      option("dropout", &O::dropout,
             "Dropout of the embeddings: the fraction that is set to 0 in training.").at_least(0).below(1),
      option("head_bias", &O::head_bias,
             "The output layer, which gives the logits, has a bias, also if its weights are tied: yes, no, or usual "
             "(classifiers and recurrent models have one, decoder and encoder_decoder have none).")
          .one_of({"usual", "yes", "no"}),
      option("segment_end", &O::segment_end,
             "Text whose tokens end a segment, for formulas with segment_i and segment_j, and for recurrences, "
             "attention.convolution and attention.selection, which begin anew with each segment: a word or another "
             "token of the vocabulary, or several tokens, such as an empty line (\"\\n\\n\") between documents.")
          .default_means("none: there are no segments")
          .only_if("attention.mask_mod", {any_value}).or_if("attention.score_mod", {any_value})
          .or_if("attention.cross_score_mod", {any_value}).or_if("attention.cross_mask_mod", {any_value})
          .or_if("attention.convolution", {any_value}).or_unless("attention.selection", {"none"})
          .or_unless("mixer.kind", {"attention"}).of_blocks(),
      option("shared_layers", &O::shared_layers,
             "All blocks of a stack have the same parameters: one block is applied as many times as there are layers "
             "(Dehghani 2019, arXiv 1807.03819; Lan 2020, arXiv 1909.11942).")
          .unless("model.layers", {"1"}).or_if("model.encoder_decoder.decoder_layers", {any_value}).of_blocks());
  return table;
}

const OptionTable<InitOptions>& init_option_table() {
  using O = InitOptions;
  const std::vector<std::string> words = {"init_std", "xavier_uniform", "xavier_normal", "torch"};
  static const auto table = option_table<O>(
      option("embedding", &O::embedding,
             "Initial token embeddings: N(0, model.init_std^2); Xavier's uniform or normal distribution, from "
             "vocabulary and width; N(0, 1), as torch.nn.Embedding; or N(0, s^2) for a number s.")
          .one_of(words).above(0).at_most(100).initial_value(),
      option("position", &O::position, "Initial vectors of learned positions. The choices are those of init.embedding.")
          .one_of(words).above(0).at_most(100).initial_value().of_blocks(),
      option("linear", &O::linear,
             "Initial weights of linear layers and convolutions, except the output layer: N(0, model.init_std^2), "
             "unless the layer has its own initialisation; Xavier's uniform or normal distribution; U(-1 / "
             "sqrt(inputs), 1 / sqrt(inputs)), also for biases, as torch.nn.Linear; or N(0, s^2) for a number s. "
             "Recurrent cells and scores always use their own initialisation.")
          .one_of(words).above(0).at_most(100).initial_value(),
      option("head", &O::head,
             "Initial weights of the output layer, unless they are tied. The choices are those of init.linear.")
          .one_of(words).above(0).at_most(100).initial_value(),
      option("qkv", &O::qkv,
             "The number of outputs (fan-out) in Xavier's rule for the query, key and value matrices: of each matrix, "
             "or of all three together, as torch.nn.MultiheadAttention (fairseq's factor 1 / sqrt(2)).")
          .one_of({"separate", "joint"})
          .only_if("init.linear", {"xavier_uniform", "xavier_normal"}).initial_value().of_blocks(),
      option("seed", &O::seed, "Seed of the initial weights.")
          .between(-1, largest_seed).default_means("-1: seed").initial_value());
  return table;
}

const OptionTable<TrainOptions>& train_option_table() {
  using O = TrainOptions;
  static const auto table = option_table<O>(
      option("steps", &O::steps, "Optimiser steps. 0: the untrained model is evaluated and inspected.")
          .between(0, 1e12).unit("steps"),
      option("start", &O::start,
             "The ID of a finished run in the output folder, or a unique beginning of it. Its last weights replace the "
             "initial weights; the optimiser, the steps and all random draws begin anew. All seeds start from this "
             "run.")
          .default_means("none: initial weights"),
      option("start_weights", &O::start_weights,
             "The weights that train.start takes: all, which refuses a run whose parameters have other names or "
             "shapes; or those with matching names and shapes. The other parameters have initial weights.")
          .one_of({"all", "matching"}).only_if("train.start", {any_value}),
      option("start_checksum", &O::start_checksum,
             "The checksum of the step and the weights of train.start. Heed fills it in when it plans a run. If it is "
             "given, a run with other weights is refused.")
          .default_means("that of the run in the output folder").only_if("train.start", {any_value}),
      option("batch", &O::batch, "Sequences in a step, and in a batch of an evaluation.")
          .between(1, 1e6).unit("sequences")
          .unless("train.batch_tokens", {any_value}).or_if("train.evaluate_batches", {any_value})
          .or_if("train.evaluate_random_batches", {any_value}).unless("train.full_batch", {"true"})
          .or_if("train.evaluate_batches", {any_value}).or_if("train.evaluate_random_batches", {any_value}),
      option("batch_tokens", &O::batch_tokens,
             "The most tokens of a step: its number of sequences times the longest input or output (fairseq's "
             "max_tokens). The sequences of a step then have similar lengths.")
          .between(0, 1e9).unit("tokens").default_means("0: train.batch sequences")
          .unless("train.full_batch", {"true"}),
      option("full_batch", &O::full_batch, "Each step uses every training example once."),
      option("shards", &O::shards,
             "Parts of a batch that threads compute at the same time. The order of sums, and with it the last bits of "
             "results, depends on the number of shards. If there are more threads than shards, threads share the work "
             "within a shard.")
          .between(1, 4096).unit("shards")
          .default_means("4; 2 for a small or recurrent model; at most train.batch"),
      option("threads", &O::threads, "Threads of a run. The results do not depend on it.")
          .between(0, 4096).unit("threads")
          .default_means("0: as many as the machine has, at most 16").without_effect_on_results(),
      option("optimizer", &O::optimizer,
             "The optimiser: the rule that turns gradients into updates of the parameters.")
          .only_if("train.steps", {any_value}),
      option("schedule", &O::schedule, "How the learning rate changes after the warm-up.")
          .only_if("train.steps", {any_value}),
      option("learning_rate", &O::learning_rate, "The highest learning rate.").above(0).at_most(1e6)
          .only_if("train.steps", {any_value}),
      option("warmup", &O::warmup,
             "Number of first steps in which the learning rate is multiplied by (step + 1) / (warmup + 1).")
          .between(0, 1e12).unit("steps").only_if("train.steps", {any_value}),
      option("clip", &O::clip,
             "Largest global norm of the gradients. Gradients with a larger norm are scaled down to it.")
          .at_least(0).default_means("0: no clipping").only_if("train.steps", {any_value}),
      option("label_smoothing", &O::label_smoothing,
             "Share of the target's probability that is spread over all classes.")
          .at_least(0).below(1).only_if("train.steps", {any_value}),
      option("dropout_seed", &O::dropout_seed, "Seed of the dropout: of which values are set to 0 at each step.")
          .between(-1, largest_seed).default_means("-1: seed").only_if("train.steps", {any_value})
          .only_if("model.dropout", {any_value}).or_if("attention.dropout", {any_value})
          .or_if("block.dropout", {any_value}).or_if("block.ffn_dropout", {any_value})
          .or_if("recurrent.dropout", {any_value}),
      option("evaluate_every", &O::evaluate_every, "Steps between evaluations on the validation split.")
          .between(0, 1e12).unit("steps").default_means("0: only at the end")
          .only_if("train.steps", {any_value}),
      option("evaluate_batches", &O::evaluate_batches, "Batches of the validation split in an evaluation.")
          .between(0, 1e12).unit("batches").default_means("0: the whole split"),
      option("evaluate_random_batches", &O::evaluate_random_batches,
             "Number of random batches from which evaluations also estimate the loss, as nanoGPT does. Each batch has "
             "train.batch random examples (of a text: random windows). Each evaluation draws new ones.")
          .between(0, 1e6).unit("batches").default_means("0: they do not"),
      option("evaluate_by_length", &O::evaluate_by_length,
             "Evaluations also give the accuracy for each length of the output, or of a classifier's input."),
      option("evaluate_lengths", &O::evaluate_lengths,
             "Evaluations also measure on sequences of these lengths, which the task makes for it as if they were its "
             "own (copy: length, addition: digits, recall: pairs, text: block), beyond training's too.")
          .between(1, 1 << 20).default_means("none"),
      option("evaluate_beam", &O::evaluate_beam,
             "Beam width with which evaluations of a sequence-to-sequence model also decode the split (1: greedy "
             "search). They then give the accuracy, BLEU and chrF of the decoded outputs.")
          .between(0, 1024).unit("outputs").default_means("0: they do not"),
      option("evaluate_length_penalty", &O::evaluate_length_penalty,
             "Length penalty alpha of the beam search (train.evaluate_beam): the log probability of an output of n "
             "tokens is divided by ((5 + n) / 6)^alpha.")
          .between(0, 100),
      option("evaluate_length_penalty_kind", &O::evaluate_length_penalty_kind,
             "Base of the length penalty, for an output of n tokens: (5 + n) / 6 (gnmt: Wu et al. 2016), or n "
             "(fairseq).")
          .one_of({"gnmt", "fairseq"}).only_if("train.evaluate_length_penalty", {any_value}),
      option("evaluate_bleu_tokenization", &O::evaluate_bleu_tokenization,
             "BLEU's tokenization, by sacreBLEU's names: mteval's rules for Western languages (13a), mteval's rules "
             "for all languages (intl), words between white space (none), or characters (char).")
          .only_if("train.evaluate_beam", {any_value}),
      option("inspect", &O::inspect,
             "What is measured inside the model. norms: norms of gradients and outputs, by module. attention: entropy "
             "and distance of each attention head. heads: attention, and the importance of each head. all: heads and "
             "norms. scores: attention, the variance of scores, and the weight of the first key. layers: norms, also "
             "of weights and of whole layers, and how near a layer's tokens are to one vector. everything: all of "
             "these.")
          .one_of({"none", "norms", "attention", "heads", "all", "scores", "layers", "everything"}),
      option("inspect_every", &O::inspect_every, "Steps between measurements inside the model (train.inspect).")
          .between(0, 1e12).unit("steps").default_means("0: only at the end")
          .unless("train.inspect", {"none"}).only_if("train.steps", {any_value}),
      option("checkpoint_every", &O::checkpoint_every, "Steps between checkpoints.")
          .between(0, 1e12).unit("steps").default_means("0: only at the end").without_effect_on_results()
          .only_if("train.steps", {any_value}),
      option("keep_checkpoints", &O::keep_checkpoints, "Number of checkpoints to keep: the newest ones.")
          .between(2, 1e6).unit("checkpoints").without_effect_on_results(),
      option("log_every", &O::log_every, "Steps between the lines of training loss in metrics.jsonl.")
          .between(1, 1e12).unit("steps").only_if("train.steps", {any_value}));
  return table;
}

const OptionTable<EngineOptions>& engine_option_table() {
  using O = EngineOptions;
  static const auto table = option_table<O>(
      option("kernels", &O::kernels,
             "Instruction set of the engine: the fastest that the build and the CPU have, or the one that is named "
             "here. Results are bit-identical only with the same instruction set. The run's manifest names it.")
          .one_of({"auto", "baseline", "avx2", "avx512"}));
  return table;
}

const OptionTable<ReportOptions>& report_option_table() {
  using O = ReportOptions;
  static const auto table = option_table<O>(
      option("metric", &O::metric,
             "The metric that decides, such as val_loss. The mean over a range of lengths is also a metric: "
             "val_accuracy_at.13-24 is the mean over the lengths of train.evaluate_lengths from 13 to 24, "
             "val_accuracy_by_length.13-24 the mean over the split's own lengths from 13 to 24 "
             "(train.evaluate_by_length).")
          .without_effect_on_results(),
      option("also", &O::also,
             "Further metrics to compare. p is then corrected over all arms and all compared metrics together.")
          .default_means("none").without_effect_on_results(),
      option("margin", &O::margin,
             "Largest difference from the reference that counts as the same, in the metric's unit: none, or a number. "
             "With a number, reports also test for equivalence.")
          .one_of({"none"}).above(0).without_effect_on_results(),
      option("answer", &O::answer,
             "What is asked with the margin: whether an arm is the same as the reference within it (same), or whether "
             "it is not worse by more than the margin (not worse), for which five seeds suffice. Then p and one-sided "
             "bounds are of this, for all arms together.")
          .one_of({"same", "not worse"}).without_effect_on_results(),
      option("test", &O::test,
             "How an arm's runs are compared with the reference's: each with the run of the same seed (paired), or all "
             "with all (unpaired). Unpaired finds smaller differences if runs with the same seed hardly correlate.")
          .one_of({"paired", "unpaired"}).without_effect_on_results(),
      option("learned", &O::learned,
             "Value of the metric from which a seed counts as one that learned: a number, or found, which takes the "
             "gap between the two modes of bimodal outcomes.")
          .one_of({"found"}).without_effect_on_results(),
      option("over", &O::over,
             "One answer over all groups of [sweep] within, which count as tasks: for these tasks and other seeds "
             "(these tasks), or for other tasks of which these are a sample (tasks like these; six or more).")
          .one_of({"none", "these tasks", "tasks like these"}).without_effect_on_results(),
      option("scale", &O::scale,
             "With over: the unit in which tasks are added up. The metric's own (metric), the way from guessing to the "
             "best possible value (chance to best), or a number for each task, in the report's order: \"0.2, 1.5\".")
          .without_effect_on_results(),
      option("question", &O::question, "The question of the sweep. Reports begin with it.")
          .without_effect_on_results(),
      option("examples", &O::examples,
             "Stores the metric of each validation example, and also states each difference with an interval over "
             "other seeds and other examples. Finished runs are evaluated again.")
          .without_effect_on_results(),
      option("attend", &O::attend,
             "Inputs whose attention weights the report shows. For images: \"row 0\", \"row 1\", ... of the validation "
             "split.")
          .default_means("none").without_effect_on_results());
  return table;
}

// clang-format on

} // namespace heed
