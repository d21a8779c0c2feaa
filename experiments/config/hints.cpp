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
      {"attention.normalizer", {"softmax1", "quiet", "off_by_one", "softmax_off_by_one", "sink"}, "'softmax_one'"},
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
      {"[attention]", {"swa", "sliding_window", "local", "local_window", "window_size"}, "attention.window"},
      {"[attention]", {"qk_norm", "qknorm", "normalize_qk"}, "attention.query_key_norm"},
      {"[attention]", {"sink", "sinks", "attention_sink"}, "attention.normalizer = 'softmax_one'"},
      {"[attention]", {"bias"}, "attention.qkv_bias"},
      {"[attention]", {"num_heads", "n_heads", "n_head", "nhead"}, "model.heads"},
      {"[attention]", {"kind", "type"}, "attention.score"},
      {"[attention]", {"head_dim", "d_head", "d_k"}, "attention.head_width"},
      {"[attention]", {"mask"}, "attention.causal, attention.window or attention.mask_mod"},
      {"[model]", {"architecture", "type", "arch"}, "model.kind"},
      {"[model]", {"n_layer", "n_layers", "num_layers", "depth"}, "model.layers"},
      {"[model]", {"d_model", "hidden_size", "n_embd", "dim", "embed_dim", "hidden"}, "model.width"},
      {"[model]", {"n_head", "n_heads", "num_heads", "nhead"}, "model.heads"},
      {"[model]", {"weight_tying", "tie_weights", "tie_embeddings"}, "model.tied_embeddings"},
      {"[block]", {"d_ff", "ffn_dim", "mlp_width", "intermediate_size", "dim_feedforward"}, "block.ffn_width"},
      {"[train]", {"lr"}, "train.learning_rate"},
      {"[train]", {"batch_size", "bs"}, "train.batch"},
      {"[train]", {"epochs", "num_steps", "max_steps", "max_iters", "iterations"}, "train.steps"},
      {"[train]", {"grad_clip", "clip_norm", "max_grad_norm", "gradient_clip"}, "train.clip"},
      {"[train]", {"warmup_steps"}, "train.warmup"},
      {"[train]", {"eval_interval", "eval_every"}, "train.evaluate_every"},
      {"[sweep]", {"grid", "vary", "kind", "remove", "with"}, "an entry of [[sweep.block]]: write this line above it"},
      // options of the command line
      {"--", {"seeds", "n_seeds", "num_seeds"}, "sweep.seeds=N, without dashes"},
      {"--", {"seed"}, "seed=N, without dashes"},
      {"--", {"lr"}, "train.learning_rate=X, without dashes"},
      {"--", {"epochs", "max_steps", "iterations"}, "train.steps=N, without dashes"},
      {"--", {"batch_size"}, "train.batch=N, without dashes"},
      {"--", {"output", "output_dir", "out_dir", "dir", "folder"}, "--out FOLDER"},
      {"--", {"config", "c", "file"}, "the name of the file, without an option"},
      {"--", {"device", "gpu", "cuda", "gpus"}, "nothing: Heed computes on the CPU"},
      {"--", {"workers", "num_workers", "parallel", "j"}, "--jobs N"},
      {"--", {"resume"}, "nothing: the same command again resumes a sweep"},
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

} // namespace heed
