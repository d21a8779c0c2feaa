#include "experiments/config/hints.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace heed {

const std::vector<Hint>& hints() {
  static const std::vector<Hint> all{
      // values
      {"position.kind", {"rope", "rotary_embedding", "rotary_embeddings"}, "'rotary'"},
      {"position.kind", {"nope", "no_pe", "no_position", "no_positions"}, "'none'"},
      {"position.kind", {"absolute", "ape", "absolute_position"}, "'learned' or 'sinusoidal'"},
      {"position.kind", {"sin", "sine", "sincos", "fourier", "vaswani"}, "'sinusoidal'"},
      {"position.kind", {"relative", "rpe", "relative_position"}, "'shaw', 't5' or 'alibi'"},
      {"position.kind", {"t5_bias", "relative_bias", "bucketed"}, "'t5'"},
      {"position.kind", {"music_transformer", "skew"}, "'skewed'"},
      {"model.kind", {"gpt", "gpt2", "gpt_2", "llama", "causal_lm", "decoder_only", "lm"}, "'decoder'"},
      {"model.kind", {"bert", "encoder_only", "classifier"}, "'encoder'"},
      {"model.kind", {"t5", "bart", "seq2seq", "transformer", "translation"}, "'encoder_decoder'"},
      {"model.kind", {"rnn", "lstm", "gru"}, "'recurrent', with recurrent.cell"},
      {"model.kind", {"vit", "vision_transformer"}, "'patches'"},
      {"attention.score", {"scaled", "sdpa", "scaled_dot_product", "vaswani"}, "'scaled_dot'"},
      {"attention.score", {"bahdanau", "mlp"}, "'additive'"},
      {"attention.score", {"general", "bilinear", "luong"}, "'multiplicative'"},
      {"attention.score", {"dot_product"}, "'dot'"},
      {"attention.projection", {"mla", "multi_head_latent"}, "'latent'"},
      {"attention.projection", {"kv_shared", "shared", "k_eq_v", "tied"}, "'shared_key_value'"},
      {"attention.normalizer", {"softmax1", "quiet", "off_by_one", "softmax_off_by_one"}, "'softmax_one'"},
      {"attention.normalizer", {"sink", "learned_sink", "gpt_oss"}, "'softmax_sink'"},
      {"attention.normalizer", {"ssmax", "log_n", "scalable"}, "'scalable_softmax'"},
      {"attention.normalizer", {"stickbreaking", "sb"}, "'stick_breaking'"},
      {"attention.normalizer", {"relu", "identity", "linear", "polynomial"}, "'none', with attention.score_mod"},
      {"attention.normalizer", {"topk"}, "'top_k'"},
      {"attention.normalizer", {"entmax_15", "entmax_1.5", "entmax1.5"}, "'entmax15'"},
      {"block.norm", {"prenorm", "pre_norm", "pre_ln"}, "'pre'"},
      {"block.norm", {"postnorm", "post_norm", "post_ln"}, "'post'"},
      {"block.norm", {"layer", "layernorm", "layer_norm", "rms", "rmsnorm", "rms_norm"}, "block.norm_kind"},
      {"block.norm_kind", {"layernorm", "layer_norm"}, "'layer'"},
      {"block.norm_kind", {"rmsnorm", "rms_norm"}, "'rms'"},
      {"report.metric", {"accuracy", "acc", "val_acc"}, "val_accuracy"},
      {"report.metric", {"loss"}, "val_loss"},
      {"report.metric", {"perplexity", "ppl"}, "val_perplexity"},
      // options of a table
      {"[attention]",
       {"gqa", "mqa", "grouped_query", "kv_heads", "num_kv_heads", "n_kv_heads"},
       "attention.key_value_heads (1 for MQA)"},
      {"[attention]", {"num_key_value_heads", "n_head_kv", "num_kv"}, "attention.key_value_heads"},
      {"[attention]", {"attn_pdrop", "attention_dropout", "attn_dropout", "p_drop"}, "attention.dropout"},
      {"[attention]", {"is_causal", "autoregressive"}, "attention.causal"},
      {"[attention]", {"swa", "sliding_window", "local", "local_window", "window_size"}, "attention.window"},
      {"[attention]", {"qk_norm", "qknorm", "normalize_qk"}, "attention.query_key_norm"},
      {"[attention]", {"mla"}, "attention.projection = 'latent'"},
      {"[attention]", {"kv_lora_rank"}, "attention.latent.width, with attention.projection = 'latent'"},
      {"[attention]", {"q_lora_rank"}, "attention.latent.query_width, with attention.projection = 'latent'"},
      {"[attention]", {"sink", "sinks", "attention_sink"}, "attention.normalizer = 'softmax_sink'"},
      {"[attention]", {"bias"}, "attention.qkv_bias"},
      {"[attention]", {"num_heads", "n_heads", "n_head", "nhead"}, "model.heads"},
      {"[attention]", {"kind", "type"}, "attention.score"},
      {"[attention]", {"head_dim", "d_head", "d_k"}, "attention.head_width"},
      {"[attention]", {"mask"}, "attention.causal, attention.window or attention.mask_mod"},
      {"[model]", {"architecture", "type", "arch"}, "model.kind"},
      {"[model]",
       {"n_layer", "n_layers", "num_layers", "depth", "num_hidden_layers", "num_encoder_layers", "num_decoder_layers",
        "n_blocks", "num_blocks"},
       "model.layers"},
      {"[model]",
       {"d_model", "hidden_size", "n_embd", "dim", "embed_dim", "hidden", "hidden_dim", "embedding_dim", "model_dim",
        "embedding_size", "emb_dim"},
       "model.width"},
      {"[model]", {"n_head", "n_heads", "num_heads", "nhead", "num_attention_heads", "attention_heads"}, "model.heads"},
      {"[model]",
       {"block_size", "context_length", "context", "ctx_len", "n_ctx", "n_positions", "max_position_embeddings",
        "max_seq_len", "max_seq_length", "seq_len", "sequence_length"},
       "task.text.block for running text, the task's own length for generated tasks, and data.max_length for rows"},
      {"[model]",
       {"vocab_size", "vocabulary_size", "n_vocab", "num_embeddings"},
       "data.max_vocabulary, an upper bound; the data decide the size"},
      {"[model]", {"embd_pdrop", "embedding_dropout", "embed_dropout"}, "model.dropout"},
      {"[model]", {"initializer_range", "init_scale"}, "model.init_std"},
      {"[model]", {"weight_tying", "tie_weights", "tie_embeddings"}, "model.tied_embeddings"},
      {"[block]",
       {"d_ff", "ffn_dim", "mlp_width", "intermediate_size", "dim_feedforward", "ff_dim", "n_inner", "ffn_hidden_size"},
       "block.ffn_width"},
      {"[block]", {"resid_pdrop", "residual_dropout", "hidden_dropout_prob", "hidden_dropout"}, "block.dropout"},
      {"[block]", {"activation_function", "hidden_act", "act_fn", "nonlinearity"}, "block.activation"},
      {"[block]", {"norm_first", "pre_norm", "prenorm", "pre_ln"}, "block.norm = 'pre'"},
      {"[block]", {"rmsnorm", "rms_norm", "layernorm", "layer_norm", "norm_type"}, "block.norm_kind"},
      {"[train]", {"lr", "max_lr", "peak_lr"}, "train.learning_rate"},
      {"[train]",
       {"batch_size", "bs", "per_device_train_batch_size", "train_batch_size", "micro_batch_size"},
       "train.batch"},
      {"[train]",
       {"epochs", "num_steps", "max_steps", "max_iters", "iterations", "num_epochs", "n_epochs", "num_train_epochs",
        "max_epochs", "n_steps", "num_iterations", "train_steps"},
       "train.steps (an epoch is the number of training examples, divided by train.batch)"},
      {"[train]", {"weight_decay", "wd", "l2"}, "train.adamw.weight_decay, of the optimiser adamw"},
      {"[train]",
       {"gradient_accumulation_steps", "grad_accum", "accumulate_grad_batches"},
       "train.batch: all the sequences of a step"},
      {"[train]", {"beta1", "adam_beta1", "betas"}, "train.adamw.beta1 and train.adamw.beta2"},
      {"[train]", {"optim", "optimiser"}, "train.optimizer"},
      {"[train]", {"lr_scheduler_type", "lr_scheduler", "scheduler", "lr_decay", "lr_schedule"}, "train.schedule"},
      {"[train]",
       {"eval_iters", "eval_steps"},
       "train.evaluate_every for the steps between evaluations, and "
       "train.evaluate_batches for their size"},
      {"[train]", {"grad_clip", "clip_norm", "max_grad_norm", "gradient_clip"}, "train.clip"},
      {"[train]", {"warmup_steps", "warmup_iters", "num_warmup_steps"}, "train.warmup"},
      {"[train]", {"eval_interval", "eval_every"}, "train.evaluate_every"},
      {"[sweep]",
       {"grid", "vary", "kind", "remove", "with"},
       "an entry of [[sweep.block]]: write the line "
       "[[sweep.block]] above it"},
      {"[sweep]", {"reference_name", "reference_label", "baseline", "baseline_name"}, "sweep.reference"},
      // options of the command line
      {"--", {"seeds", "n_seeds", "num_seeds"}, "sweep.seeds=N, without dashes"},
      {"--", {"seed"}, "seed=N, without dashes"},
      {"--", {"lr"}, "train.learning_rate=X, without dashes"},
      {"--", {"epochs", "max_steps", "iterations"}, "train.steps=N, without dashes"},
      {"--", {"batch_size"}, "train.batch=N, without dashes"},
      {"--", {"output", "output_dir", "out_dir", "dir", "folder"}, "--out FOLDER"},
      {"--", {"config", "c", "file"}, "the name of the file, without an option"},
      {"--", {"device", "gpu", "cuda", "gpus"}, "no option: Heed computes on the CPU"},
      {"--", {"workers", "num_workers", "parallel", "j"}, "--jobs N"},
      {"--", {"resume"}, "no option: the same command again resumes a sweep"},
  };
  return all;
}

std::string hint_for(std::string_view where, std::string_view word) {
  while (word.starts_with('-')) word.remove_prefix(1);
  std::string plain(word);
  for (char& c : plain) c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Hint& hint : hints())
    if (hint.where == where && std::ranges::find(hint.words, plain) != hint.words.end())
      return fmt::format("; in Heed, this is {}", hint.in_heed);
  return "";
}

std::string hint_of_tables(std::string_view name) {
  for (const Hint& hint : hints())
    if (hint.where.starts_with('[') && hint.where != "[sweep]")
      if (std::string found = hint_for(hint.where, name); !found.empty()) return found;
  return "";
}

} // namespace heed
