#include "experiments/config/unknown_names.hpp"

#include "experiments/config/catalogue.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace heed {
namespace {

/// The names that are allowed in a table: its options, then its subtables.
std::vector<std::string> names_in(std::string_view table) {
  std::vector<std::string> out;
  if (const TableInfo* info = find_table(table))
    for (const Option& o : info->options) out.push_back(o.name);
  if (table.empty()) out.insert(out.end(), {"extends", "sweep"});
  if (table == "block") out.push_back("override");
  if (table == "report") out.push_back("label");
  const std::string prefix = table.empty() ? "" : fmt::format("{}.", table);
  for (const TableInfo& t : catalogue())
    if (t.table.size() > prefix.size() && t.table.starts_with(prefix) &&
        t.table.find('.', prefix.size()) == std::string::npos)
      out.push_back(t.table.substr(prefix.size()));
  return out;
}

/// Optimal string alignment distance: an insertion, a deletion, a substitution and a swap of neighbours cost 1 each.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

} // namespace

std::vector<std::string> keys_named(std::string_view name) {
  std::vector<std::string> out;
  for (const std::string& key : all_keys())
    if (key == name || key.ends_with(fmt::format(".{}", name))) out.push_back(key);
  return out;
}

std::vector<std::string> keys_about(std::string_view word) {
  const std::string wanted = lower_case(word);
  const auto has = [&](const std::string& text) { // the word, or its plural
    for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
      const auto in_word = [&](std::size_t i) {
        return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
      };
      const std::size_t end = at + wanted.size();
      const bool ends = !in_word(end) || (text[end] == 's' && !in_word(end + 1));
      if ((at == 0 || !in_word(at - 1)) && ends) return true;
    }
    return false;
  };
  std::vector<std::string> out;
  if (wanted.size() < 3) return out;
  for (const std::string& key : all_keys())
    if (const Option* option = find_option(key); option && (has(lower_case(key)) || has(lower_case(option->meaning))))
      out.push_back(key);
  return out;
}

std::string other_word(std::string_view key, const std::string& word, const std::vector<std::string>& allowed) {
  if (std::string hint = hint_for(key, word); !hint.empty()) return hint;
  if ((key == "attention.score" || key == "attention.cross_score") && word.find_first_of("()*/+ ") != word.npos)
    return fmt::format("; a formula belongs to attention.score_mod, such as score_mod = \"{}\"",
                       find_option("attention.score_mod")->formula_like);
  const std::string_view table = key.substr(0, key.rfind('.'));
  for (const std::string& other : all_keys())
    if (other != key && other.starts_with(fmt::format("{}.", table)))
      if (const Option* option = find_option(other); option && std::ranges::count(option->words, word) > 0)
        return fmt::format("; '{}' is a word of {}", word, other);
  return did_you_mean(word, allowed);
}

std::string unknown_option(std::string_view table, std::string_view name) {
  if (table == formula_parameters_key) return wrong_parameter_name(full_name(table, name));
  std::string text = fmt::format("{} has no option '{}'", table_in_words(table), name);
  if (find_option(name) && name.find('.') != std::string_view::npos)
    return text + fmt::format("; write '{}' without quotes, or in its table", name);
  if (find_option(name))
    return text + fmt::format("; '{}' belongs to the top level: write it above the first [table]", name);
  if (std::string hint = hint_for(table_in_words(table), name); !hint.empty()) return text + hint;
  if (const std::string hint = hint_of_tables(name); !hint.empty() && keys_named(name).empty()) return text + hint;
  const std::vector<std::string> here = names_in(table);
  if (const std::string near = did_you_mean(name, here); !near.empty()) return text + near;
  constexpr std::size_t most = 6;
  if (const std::vector<std::string> other = keys_named(name); !other.empty() && other.size() <= most) {
    text += "; did you mean ";
    for (std::size_t i = 0; i < other.size(); ++i) text += fmt::format("{}'{}'", i ? " or " : "", other[i]);
    return text + "?";
  }
  if (here.empty()) return fmt::format("{} has no options, so not '{}'", table_in_words(table), name);
  return text + "; it has " + list_in_words(here);
}

std::string unknown_table(std::string_view table) {
  if (table.starts_with(formula_parameters_prefix)) return wrong_parameter_name(table);
  std::vector<std::string> tables{"sweep", "report.label"};
  for (const TableInfo& t : catalogue())
    if (!t.table.empty()) tables.push_back(t.table);
  const std::string near = nearest(table, tables);
  if (!near.empty()) return fmt::format("there is no table [{}]; did you mean [{}]?", table, near);
  const std::size_t dot = table.rfind('.');
  const std::string_view within = dot == std::string_view::npos ? std::string_view() : table.substr(0, dot);
  if (!find_table(within)) return fmt::format("there is no table [{}], nor [{}]", table, within);
  return fmt::format("there is no table [{}]; {} has {}", table, table_in_words(within),
                     list_in_words(names_in(within)));
}

std::string unknown_key(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  const std::string_view table = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  if (find_table(key))
    return fmt::format("[{}] is a table; give one of its options: {}", key, list_in_words(names_in(key)));
  if (find_table(table)) return unknown_option(table, dot == std::string_view::npos ? key : key.substr(dot + 1));
  if (table.starts_with(formula_parameters_prefix)) return wrong_parameter_name(table);
  return fmt::format("there is no option '{}'{}", key, did_you_mean(key, all_keys()));
}

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
       "task.text.block for running text, the task's own length for generated tasks, and data.max_length for examples"},
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
       "train.evaluate_every for the steps between evaluations, and train.evaluate_batches for their size"},
      {"[train]", {"grad_clip", "clip_norm", "max_grad_norm", "gradient_clip"}, "train.clip"},
      {"[train]", {"warmup_steps", "warmup_iters", "num_warmup_steps"}, "train.warmup"},
      {"[train]", {"eval_interval", "eval_every"}, "train.evaluate_every"},
      {"[sweep]",
       {"grid", "vary", "kind", "remove", "with"},
       "an entry of [[sweep.block]]: write the line [[sweep.block]] above it"},
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

std::string nearest(std::string_view word, const std::vector<std::string>& allowed) {
  // A typing error is not this long, and the time for the distance grows with the length.
  if (word.size() > 200) return "";
  const std::string wanted = lower_case(word);
  std::string best;
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& candidate : allowed) {
    const std::size_t d = distance(wanted, lower_case(candidate));
    if (d < least && d < std::max(wanted.size(), candidate.size())) {
      least = d;
      best = candidate;
    }
  }
  if (best.empty() && wanted.size() >= 3)
    for (const std::string& candidate : allowed)
      if (lower_case(candidate).starts_with(wanted)) return candidate;
  return best;
}

} // namespace heed
