// Tests of every error message that a configuration can cause, word for word.
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <algorithm>

using namespace heed;
using namespace heed::test;

namespace {

struct Case {
  std::string toml, message;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.toml);
    CHECK(refusal_of(c.toml) == c.message);
  }
}

} // namespace

TEST_CASE("A name that does not exist is refused with the nearest one", "[config]") {
  check({
      {"[attention]\nscroe = \"dot\"", "x.toml:2:1: [attention] has no option 'scroe'; did you mean 'score'?"},
      {"[attention]\n  normaliser = \"softmax\"",
       "x.toml:2:3: [attention] has no option 'normaliser'; did you mean 'normalizer'?"},
      {"sede = 1", "x.toml:1:1: the top level has no option 'sede'; did you mean 'seed'?"},
      {"heads = 8", "x.toml:1:1: the top level has no option 'heads'; did you mean 'model.heads' or 'mixer.heads'?"},
      {"[model]\nprecision = \"float64\"",
       "x.toml:2:1: [model] has no option 'precision'; 'precision' belongs to the top level: write it above the first "
       "[table]"},
      {"[report]\nzzz = 1", "x.toml:2:1: [report] has no option 'zzz'; it has 'metric', 'also', 'margin', "
                            "'answer', 'test', 'learned', 'over', 'scale', 'question', 'examples', 'attend', 'label'"},
      {"[atention]\nscore = \"dot\"", "x.toml:1:2: there is no table [atention]; did you mean [attention]?"},
      {"[attention.cosin]\ntemperature = 1.0",
       "x.toml:1:12: there is no table [attention.cosin]; did you mean [attention.cosine]?"},
      {"attention.cosine.temprature = 1.0",
       "x.toml:1:18: [attention.cosine] has no option 'temprature'; did you mean 'temperature'?"},
      {"[attention.dot]\nx = 1", "x.toml:2:1: [attention.dot] has no options, so not 'x'"},
      {"\"attention.score\" = \"dot\"", "x.toml:1:1: the top level has no option 'attention.score'; write "
                                        "'attention.score' without quotes, or in its table"},
      {"[attention]\nscore = \"cosin\"", "x.toml:2:9: attention.score is 'cosin'; it must be one of " +
                                             words_of("attention.score") + "; did you mean 'cosine'?"},
      {"[task]\nkind = \"zzzz\"", "x.toml:2:8: task.kind is 'zzzz'; it must be one of " + words_of("task.kind")},
      {"[block]\nnorm = \"before\"",
       "x.toml:2:8: block.norm is 'before'; it must be one of 'pre', 'post', 'sandwich', 'output', 'none'"},
  });
}

TEST_CASE("A value of the wrong type is refused with an example of a right one", "[config]") {
  check({
      {"[attention]\ncausal = \"yes\"",
       "x.toml:2:10: attention.causal is the text 'yes'; it must be true or false, for example: causal = true"},
      {"[attention]\ncausal = 1",
       "x.toml:2:10: attention.causal is the integer 1; it must be true or false, for example: causal = true"},
      {"[model]\nlayers = 2.5",
       "x.toml:2:10: model.layers is the real 2.5; it must be an integer, for example: layers = 2"},
      {"[model]\nlayers = [2]", "x.toml:2:10: model.layers is a list; it must be an integer, for example: layers = 2"},
      {"[train]\nlearning_rate = true",
       "x.toml:2:17: train.learning_rate is the word true; it must be a number, for example: learning_rate = 0.001"},
      {"[data]\npath = 3", "x.toml:2:8: data.path is the integer 3; it must be a text, for example: path = \"...\""},
      {"[attention.score]\nx = 1", "x.toml:1:1: attention.score is a table; it must be one of " +
                                       words_of("attention.score") + ", for example: score = \"scaled_dot\""},
      {"seed = 1979-05-27", "x.toml:1:8: seed is a date or time; it must be an integer, for example: seed = 0"},
      {"model = 3", "x.toml:1:9: [model] is a table, but here is the integer 3"},
      {"[attention.scaled_dot]\nscale = \"sqr\"",
       "x.toml:2:9: attention.scaled_dot.scale is 'sqr'; it must be one of " + words_of("attention.scaled_dot.scale") +
           " or a number; did you mean 'sqrt'?"},
      {"extends = 3",
       "x.toml:1:11: extends is the integer 3; it must be a file or a list of files, such as extends = \"base.toml\""},
      {"extends = \"\"", "x.toml:1:11: extends is empty; it must be a file or a list of files, such as extends = "
                         "\"base.toml\""},
      {"extends = \"none.toml\"", "x.toml:1:11: extends 'none.toml', but there is no file none.toml"},
  });
}

TEST_CASE("A value out of bounds is refused with the bounds and the unit", "[config]") {
  check({
      {"[train]\nbatch = 0", "x.toml:2:9: train.batch is 0; it must be at least 1 and at most 1000000 (sequences)"},
      {"seed = -1", "x.toml:1:8: seed is -1; it must be at least 0 and at most 1000000000000000"},
      {"[block]\ndropout = 1", "x.toml:2:11: block.dropout is 1; it must be at least 0 and below 1"},
      {"[train]\nlearning_rate = 0.0", "x.toml:2:17: train.learning_rate is 0; it must be above 0 and at most 1000000"},
      {"[train]\nlearning_rate = nan", "x.toml:2:17: train.learning_rate is nan; it must be a finite number"},
      {"[train]\nclip = inf", "x.toml:2:8: train.clip is inf; it must be a finite number"},
      {"[train]\nclip = -inf", "x.toml:2:8: train.clip is -inf; it must be a finite number"},
  });
}

TEST_CASE("What is not TOML is refused with its place", "[config]") {
  CHECK(refusal_of("seed = 1\nseed = 2\n").starts_with("x.toml:2:8: this is not TOML: "));
  CHECK(refusal_of("[model\n").starts_with("x.toml:1:7: this is not TOML: "));
  CHECK(refusal_of("name = \"\xff\"") == "x.toml:1:8: this is not TOML: Encountered invalid utf-8 sequence");
  CHECK(refusal_of(std::string("a\0b = 1", 7)).starts_with("x.toml:1:2: this is not TOML: "));
  CHECK(refusal_of("seed = 99999999999999999999").starts_with("x.toml:1:28: this is not TOML: "));
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  CHECK(refusal_of("\n" + deep + " = 1") == "x.toml:2:1: this line has 200005 bytes; at most 8192 are allowed");
}

TEST_CASE("An option that does nothing is refused where one layer is why", "[config]") {
  check({
      {"[attention]\nscore = \"dot\"\ncosine.temperature = 5.0",
       "x.toml:3:8: attention.cosine.temperature does nothing: attention.score is 'dot' (x.toml:2:1); it matters only "
       "where attention.score is 'cosine'"},
      {"[attention.cosine]\ntemperature = 5.0",
       "x.toml:2:1: attention.cosine.temperature does nothing: attention.score is 'scaled_dot' (built-in); it matters "
       "only where attention.score is 'cosine'"},
      {"[position]\nwidth = 8", "x.toml:2:1: position.width does nothing: position.combine is 'add' (built-in); it "
                                "matters only where position.combine is 'concat'"},
      {"[position]\nconcat = \"widen\"",
       "x.toml:2:1: position.concat does nothing: position.combine is 'add' (built-in); it matters only where "
       "position.combine is 'concat'"},
      {"[position]\nkind = \"none\"\ncombine = \"concat\"",
       "x.toml:3:1: position.combine does nothing: position.kind is 'none' (x.toml:2:1); it matters only where "
       "position.kind is one of 'sinusoidal', 'learned'"},
      {"[data]\npath = \"a.txt\"",
       "x.toml:2:1: data.path does nothing: task.kind is 'copy' (built-in); it matters only "
       "where task.kind is one of 'text', 'translation', 'labelled_text', 'images', 'scan'"},
      {"[task]\nkind = \"translation\"\n[data]\npath = \"a\"\nvalidation_path = \"b\"\ntrain = 0.5",
       "x.toml:6:1: data.train does nothing: data.validation_path is 'b' (x.toml:5:1); it matters only where "
       "data.validation_path is not given"},
      {"[task]\nkind = \"translation\"\n[data]\npath = \"a\"\nvalidation_rows = 9\ntrain = 0.5",
       "x.toml:6:1: data.train does nothing: data.validation_rows is 9 (x.toml:5:1); it matters only where "
       "data.validation_rows is not given"},
      {"[task]\nkind = \"translation\"\n[data]\npath = \"a\"\ntest_path = \"b\"\ntest_rows = 5",
       "x.toml:6:1: data.test_rows does nothing: data.test_path is 'b' (x.toml:5:1); it matters only where "
       "data.test_path is not given"},
      {"[task]\nkind = \"translation\"\n[data]\npath = \"a\"\ntest_path = \"b\"\ntest = 0.5",
       "x.toml:6:1: data.test does nothing: data.test_path is 'b' (x.toml:5:1); it matters only where data.test_path "
       "is not given"},
      {"[task]\nkind = \"translation\"\n[data]\npath = \"a\"\n[task.translation]\ntest_target = \"b\"",
       "x.toml:6:1: task.translation.test_target does nothing: data.test_path is '' (built-in); it matters only where "
       "data.test_path is given"},
      {"[task]\nkind = \"text\"\n[data]\npath = \"a\"\nvalidation_rows = 9",
       "x.toml:5:1: data.validation_rows does nothing: task.kind is 'text' (x.toml:2:1); it matters only where "
       "task.kind is one of 'translation', 'labelled_text', 'images'"},
      {"[task]\nkind = \"scan\"\nvalidation = 9\n[data]\npath = \"a\"\nvalidation_path = \"b\"",
       "x.toml:3:1: task.validation does nothing: data.validation_path is 'b' (x.toml:6:1); it matters only where "
       "data.validation_path is not given"},
      {"[task]\nkind = \"scan\"\n[task.scan]\nsplit = \"length\"\n[data]\npath = \"a\"",
       "x.toml:4:1: task.scan.split does nothing: data.path is 'a' (x.toml:6:1); it matters only where data.path is "
       "not given"},
      {"[task]\nkind = \"text\"\ntest = 5",
       "x.toml:3:1: task.test does nothing: task.kind is 'text' (x.toml:2:1); it matters only where task.kind is not "
       "one of 'text', 'scan', 'translation', 'labelled_text', 'images'"},
      {"[task.reverse]\nlength = 5", "x.toml:2:1: task.reverse.length does nothing: task.kind is 'copy' (built-in); it "
                                     "matters only where task.kind is 'reverse'"},
      {"[model]\nkind = \"encoder\"\ntied_embeddings = false",
       "x.toml:3:1: model.tied_embeddings does nothing: model.kind is 'encoder' (x.toml:2:1); it matters only where "
       "model.kind is one of 'decoder', 'encoder_decoder'"},
      {"[train.sgd]\nmomentum = 0.5", "x.toml:2:1: train.sgd.momentum does nothing: train.optimizer is 'adamw' "
                                      "(built-in); it matters only where train.optimizer is 'sgd'"},
      {"[block]\nnorm = \"none\"\nnorm_kind = \"rms\"",
       "x.toml:3:1: block.norm_kind does nothing: block.norm is 'none' (x.toml:2:1); it matters only where block.norm "
       "is not 'none', or model.embedding_norm is 'true'"},
      {"[block]\nnorm_kind = \"rms\"\nnorm_bias = \"no\"",
       "x.toml:3:1: block.norm_bias does nothing: block.norm_kind is 'rms' (x.toml:2:1); it matters only where "
       "block.norm_kind is not one of 'rms', 'scale'"},
      {"[init]\nhead = \"torch\"",
       "x.toml:2:1: init.head does nothing: model.tied_embeddings is true (built-in); it matters only where "
       "model.tied_embeddings is 'false', or model.kind is not one of 'decoder', 'encoder_decoder'"},
      {"[init]\nlinear = 0.1\nembedding = \"torch\"\n[model]\ninit_std = 0.1",
       "x.toml:5:1: model.init_std does nothing: init.linear is 0.1 (x.toml:2:1); it matters only where init.linear is "
       "'init_std', or init.embedding is 'init_std', or init.position is 'init_std', or init.head is 'init_std'"},
      {"[init]\nlinear = \"torch\"\n[model]\nscaled_init = false",
       "x.toml:4:1: model.scaled_init does nothing: init.linear is 'torch' (x.toml:2:1); it matters only where "
       "init.linear is 'init_std'"},
      {"[init]\nqkv = \"joint\"",
       "x.toml:2:1: init.qkv does nothing: init.linear is 'init_std' (built-in); it matters only where init.linear is "
       "one of 'xavier_uniform', 'xavier_normal'"},
      {"[init]\nposition = \"torch\"",
       "x.toml:2:1: init.position does nothing: position.kind is 'sinusoidal' (built-in); it matters only where "
       "position.kind is one of 'learned', 'shaw', 'skewed'"},
      {"[position]\nkind = \"rotary\"\n[init]\nposition = \"torch\"",
       "x.toml:4:1: init.position does nothing: position.kind is 'rotary' (x.toml:2:1); it matters only where "
       "position.kind is one of 'learned', 'shaw', 'skewed'"},
      {"[model]\nkind = \"recurrent\"\n[recurrent]\nattention = \"none\"\n[init]\nlinear = \"torch\"",
       "x.toml:6:1: init.linear does nothing: recurrent.attention is 'none' (x.toml:4:1); it matters only where "
       "recurrent.attention is not 'none'"},
      {"[task]\nkind = \"scan\"\n[train]\nbatch_tokens = 500\nbatch = 8",
       "x.toml:5:1: train.batch does nothing: train.batch_tokens is 500 (x.toml:4:1); it matters only where "
       "train.batch_tokens is not given, or train.evaluate_batches is given, or train.evaluate_random_batches is "
       "given"},
      {"[task]\nkind = \"scan\"\n[train]\nbatch_tokens = 500\n[data]\nbucket = 8",
       "x.toml:6:1: data.bucket does nothing: train.batch_tokens is 500 (x.toml:4:1); it matters only where "
       "train.batch_tokens is not given"},
      {"[task]\nkind = \"scan\"\n[train]\nfull_batch = true\nbatch = 8",
       "x.toml:5:1: train.batch does nothing: train.full_batch is true (x.toml:4:1); it matters only where "
       "train.full_batch is not 'true', or train.evaluate_batches is given, or train.evaluate_random_batches is given"},
      {"[task]\nkind = \"scan\"\n[train]\nfull_batch = true\nbatch_tokens = 500",
       "x.toml:5:1: train.batch_tokens does nothing: train.full_batch is true (x.toml:4:1); it matters only where "
       "train.full_batch is not 'true'"},
      {"[task]\nkind = \"modular_addition\"\n[train]\nfull_batch = true",
       "x.toml:4:1: train.full_batch does nothing: task.modular_addition.train is 0.0 (built-in); it matters only "
       "where "
       "task.modular_addition.train is given, or task.kind is not 'modular_addition'"},
      {"[task]\nkind = \"modular_addition\"\nvalidation = 9\ntest = 9\n[task.modular_addition]\ntrain = 0.5",
       "x.toml:4:1: task.test does nothing: task.modular_addition.train is 0.5 (x.toml:6:1); it matters only where "
       "task.modular_addition.train is not given\n"
       "x.toml:3:1: task.validation does nothing: task.modular_addition.train is 0.5 (x.toml:6:1); it matters only "
       "where task.modular_addition.train is not given"},
      {"[task]\nkind = \"translation\"\n[data]\npath = \"a\"\n[task.translation]\ntarget = \"b\"\ncounts = true",
       "x.toml:7:1: task.translation.counts does nothing: task.translation.target is 'b' (x.toml:6:1); it matters only "
       "where task.translation.target is not given"},
      {"[train]\nbatch_tokens = 500",
       "x.toml:2:1: train.batch_tokens does nothing: task.kind is 'copy' (built-in); it matters only where task.kind "
       "is one of 'scan', 'translation', 'labelled_text'"},
      {"[train]\nevaluate_length_penalty_kind = \"fairseq\"",
       "x.toml:2:1: train.evaluate_length_penalty_kind does nothing: train.evaluate_length_penalty is 0.0 (built-in); "
       "it matters only where train.evaluate_length_penalty is given"},
      {"[train]\nevaluate_bleu_tokenization = \"intl\"",
       "x.toml:2:1: train.evaluate_bleu_tokenization does nothing: train.evaluate_beam is 0 (built-in); it matters "
       "only where train.evaluate_beam is given"},
      {"[model]\nlayers = 1\nshared_layers = true", "x.toml:3:1: model.shared_layers does nothing: model.layers is 1 "
                                                    "(x.toml:2:1); it matters only where model.layers "
                                                    "is not '1', or model.encoder_decoder.decoder_layers is given"},
      {"[block]\nconnection = \"highway\"\nresidual_scale = 0.5",
       "x.toml:3:1: block.residual_scale does nothing: block.connection is 'highway' (x.toml:2:1); it matters only "
       "where block.connection is 'sum'"},
      {"[block]\nresidual = \"none\"\nconnection = \"highway\"",
       "x.toml:3:1: block.connection does nothing: block.residual is 'none' (x.toml:2:1); it matters only where "
       "block.residual is not 'none'"},
      {"[block]\nresidual = \"none\"\n[[block.override]]\nlayers = [0, 1]\nresidual = \"ffn\"",
       "x.toml:2:1: block.residual does nothing: every block has its own in [[block.override]]"},
      {"[[block.override]]\nlayers = [0]\nresidual = \"none\"\n[[block.override]]\nlayers = [0, 1]\nresidual = \"ffn\"",
       "x.toml:3:1: block.residual does nothing: a later [[block.override]] sets it for the same blocks"},
  });
}

TEST_CASE("Options of rotary positions that do nothing are refused", "[config]") {
  const std::string rotary = "[position]\nkind = \"rotary\"\n";
  check({
      {rotary + "rotary.factor = 4.0",
       "x.toml:3:8: position.rotary.factor does nothing: position.rotary.scaling is 'none' (built-in); it matters only "
       "where position.rotary.scaling is not 'none'"},
      {rotary + "rotary.scaling = \"ntk\"\nrotary.original_length = 64",
       "x.toml:4:8: position.rotary.original_length does nothing: position.rotary.scaling is 'ntk' (x.toml:3:8); it "
       "matters only where position.rotary.scaling is 'yarn'"},
      {rotary + "rotary.evaluation_scaling = \"yarn\"", "x.toml:3:8: position.rotary.evaluation_scaling does nothing: "
                                                        "train.evaluate_lengths is [] (built-in); it matters "
                                                        "only where train.evaluate_lengths is given"},
      {rotary + "rotary.evaluation_factor = 2.0", "x.toml:3:8: position.rotary.evaluation_factor does nothing: "
                                                  "train.evaluate_lengths is [] (built-in); it matters "
                                                  "only where train.evaluate_lengths is given"},
      {rotary + "rotary.evaluation_factor = 2.0\n[train]\nevaluate_lengths = [64]",
       "x.toml:3:8: position.rotary.evaluation_factor does nothing: position.rotary.evaluation_scaling is 'none' "
       "(built-in); it matters only where position.rotary.evaluation_scaling is one of 'linear', 'ntk', 'yarn'"},
  });
}

TEST_CASE("Combinations that cannot be are refused", "[config]") {
  check({
      {"[model]\nheads = 3",
       "x.toml:2:1: model.heads is 3, which does not divide the width 64 (model.width); the nearest that divide it are "
       "2 and 4"},
      {"[model]\nwidth = 7\nheads = 9",
       "x.toml:3:1: model.heads is 9, which does not divide the width 7 (model.width); the "
       "nearest that does is 7"},
      {"[position]\ncombine = \"concat\"\nconcat = \"widen\"\nwidth = 1",
       "x.toml:4:1: model.heads is 4, which does not divide the width 65 (model.width 64 and concatenated positions); "
       "the nearest that divide it are 1 and 5"},
      {"[attention]\nkey_value_heads = 3",
       "x.toml:2:1: attention.key_value_heads is 3, which does not divide model.heads 4; the nearest that divide it "
       "are 2 and 4"},
      {"[block]\nparallel = true\nresidual = \"ffn\"",
       "x.toml:2:1: block.parallel is true (x.toml:2:1), and block.residual is 'ffn' (x.toml:3:1): with block.parallel "
       "both sublayers share one residual sum; block.residual must be 'both' or 'none'"},
      {"[attention]\nnormalizer = \"stick_breaking\"\ncausal = false",
       "x.toml:2:1: attention.normalizer is 'stick_breaking' (x.toml:2:1), and attention.causal is false (x.toml:3:1): "
       "the normaliser 'stick_breaking' gives weights only to earlier keys: it needs attention.causal = true"},
      {"[model]\nwidth = 10\nheads = 2\n[attention]\nprojection = \"identity\"\nvalue_width = 3",
       "x.toml:2:1: the projection 'identity' cuts vectors of width 10 into the values of 2 heads of width 3, and the "
       "results of 2 heads must have the width 10 together: set model.width to a multiple of model.heads, and leave "
       "attention.value_width and attention.key_value_heads out"},
      {"[model]\nkind = \"encoder_decoder\"\n[attention]\ncross_normalizer = \"stick_breaking\"",
       "x.toml:4:1: attention.cross_normalizer is 'stick_breaking' (x.toml:4:1): the normaliser 'stick_breaking' "
       "orders "
       "keys by their distance from the query, so only self attention can use it: choose another one here (in an "
       "encoder-decoder, by attention.cross_normalizer)"},
      {"[model]\nkind = \"recurrent\"\n[attention]\nnormalizer = \"entmax\"\nentmax.alpha = 2\nentmax.learned = true",
       "x.toml:4:1: attention.normalizer is 'entmax' (x.toml:4:1), and attention.entmax.learned is true (x.toml:6:8), "
       "and "
       "attention.entmax.alpha is 2.0 (x.toml:5:8): entmax.learned starts at entmax.alpha, which is 2, the upper bound "
       "of "
       "what it can learn: choose an alpha below 2, such as 1.9"},
      {"[model]\nkind = \"recurrent\"\nwidth = 5", "x.toml:3:1: bidirectional = true halves model.width, which is 5: "
                                                   "make it even, or set recurrent.bidirectional = "
                                                   "false"},
      {"[task]\nkind = \"text\"\n[data]\ntrain = 0.9\ntest = 0.1",
       "x.toml:4:1: data.train is 0.9 and data.test is 0.1, so the validation split would be empty; their sum must be "
       "below 1"},
      {"[train]\nbatch = 2\nshards = 4",
       "x.toml:3:1: train.shards is 4, but train.batch is 2: a shard must have at least one sequence"},
  });
  // Options without an effect are never the reason.
  CHECK(config("[model]\nkind = \"recurrent_decoder\"\nwidth = 5").model.width == 5);
  CHECK(config("[model]\nheads = 4\n[attention]\nprojection = \"latent\"\nkey_value_heads = 4").model.heads == 4);
  CHECK(config("[model]\nkind = \"encoder\"\nlayers = 2\nencoder.pooling = \"context\"\n[attention]\ncausal = true\n"
               "normalizer = \"stick_breaking\"\n[[block.override]]\nlayers = [1]\nattention.normalizer = \"softmax\"")
            .layers.size() == 2);
  // Fractions without an effect may have any sum.
  CHECK(config("[task]\nkind = \"text\"\n[data]\npath = \"a\"\ntest = 0.5\nvalidation_path = \"b\"").data.test == 0.5);
  // With batches by tokens, a step may have fewer sequences than shards; shards without a sequence have no work.
  CHECK(config("[task]\nkind = \"scan\"\n[train]\nbatch_tokens = 200\nshards = 64").train.shards == 64);
  const Config one = config("[train]\nbatch = 1"); // the number of shards is a default, not a choice of the user
  CHECK(one.train.shards == 1);
  CHECK(to_toml(config(to_toml(one))) == to_toml(one)); // the same configuration, written and read as for a run
}

TEST_CASE("the default number of shards follows from the shapes", "[config]") {
  const auto shards = [](const std::string& more) { return config(more).train.shards; };
  CHECK(shards("[model]\nwidth = 64\n[train]\nbatch = 32") == 4);
  CHECK(shards("[model]\nwidth = 64\n[train]\nbatch = 31") == 2); // too little work for four
  CHECK(shards("[model]\nwidth = 32\n[train]\nbatch = 127") == 2);
  CHECK(shards("[model]\nwidth = 32\n[train]\nbatch = 128") == 4);
  CHECK(shards("[model]\nwidth = 256\n[train]\nbatch = 3") == 3);
  CHECK(shards("[model]\nwidth = 256\n[train]\nbatch = 2") == 2);
  CHECK(shards("[train]\nbatch = 1") == 1);
  CHECK(shards("[model]\nkind = \"recurrent\"\nwidth = 256\n[train]\nbatch = 127") == 2); // few sequences at each step
  CHECK(shards("[model]\nkind = \"recurrent\"\nwidth = 256\n[train]\nbatch = 128") == 4);
  CHECK(shards(
            "[task]\nkind = \"scan\"\n[model]\nkind = \"encoder_decoder\"\nwidth = 64\n[train]\nbatch_tokens = 1024") ==
        4);
  CHECK(
      shards("[task]\nkind = \"scan\"\n[model]\nkind = \"encoder_decoder\"\nwidth = 64\n[train]\nbatch_tokens = 100") ==
      2);
  CHECK(
      shards("[task]\nkind = \"modular_addition\"\n[task.modular_addition]\ntrain = 0.4\n[train]\nfull_batch = true") ==
      4);
  CHECK(shards("[train]\nshards = 7") == 7);
  Settings reset = Settings::parse("[train]\nshards = 7\nbatch = 3", "x.toml");
  reset.override_with({"train.shards=@default"});
  CHECK(reset.resolve().train.shards == 2);
}

TEST_CASE("[[block.override]] is checked like all else", "[config]") {
  check({
      {"[block]\noverride = 3", "x.toml:2:12: block.override is a list of tables: write [[block.override]]"},
      {"[[block.override]]\nresidual = \"none\"",
       "x.toml:1:1: [[block.override]] does not say which blocks: give layers, such as layers = [0, 1], or every, such "
       "as every = 4"},
      {"[[block.override]]\nevery = 0\nresidual = \"none\"",
       "x.toml:2:9: [[block.override]] every is the integer 0; it must be a number from 1 to 1024"},
      {"[[block.override]]\nevery = 2\nlayers = [0]\nresidual = \"none\"",
       "x.toml:1:1: [[block.override]] has layers, and one of every, from and to: give only one of the two"},
      {"[[block.override]]\nfrom = 1\nto = 0\nresidual = \"none\"",
       "x.toml:1:1: [[block.override]] from = 1 is above to = 0"},
      {"[[block.override]]\nevery = 4\nresidual = \"none\"",
       "x.toml:1:1: [[block.override]] with from = 0 and every = 4 means no block: model.layers is 2 (built-in), and "
       "blocks are counted from 0"},
      {"[[block.override]]\nto = 2\nresidual = \"none\"",
       "x.toml:1:1: [[block.override]] names block 2, but model.layers is 2 (built-in): blocks are 0 to 1"},
      {"[[block.override]]\nlayers = 1",
       "x.toml:2:10: [[block.override]] layers is the integer 1; it must be the blocks' "
       "numbers, counted from 0, such as layers = [0, 1]"},
      {"[[block.override]]\nlayers = []",
       "x.toml:2:10: [[block.override]] layers is an empty list; it must be the blocks' "
       "numbers, counted from 0, such as layers = [0, 1]"},
      {"[[block.override]]\nlayers = [0, -1]",
       "x.toml:2:14: [[block.override]] layers holds the integer -1; it must be the blocks' numbers, counted from 0, "
       "such as layers = [0, 1]"},
      {"[[block.override]]\nlayers = [0, 0]", "x.toml:2:14: [[block.override]] layers holds 0 twice"},
      {"[[block.override]]\nlayers = [0, 2]\nresidual = \"none\"",
       "x.toml:1:1: [[block.override]] names block 2, but model.layers is 2 (built-in): blocks are 0 to 1"},
      {"[[block.override]]\nlayers = [0]\nresidual = \"none\"\n[model]\nshared_layers = true",
       "x.toml:5:1: model.shared_layers is true, but [[block.override]] (x.toml:1:1) gives blocks options of their "
       "own; blocks that share their parameters must have the same options: leave one of the two out"},
      {"[[block.override]]\nlayers = [0]\nresidul = \"none\"",
       "x.toml:3:1: [[block.override]] has no option 'residul'; did you mean 'residual'?"},
      {"[[block.override]]\nlayers = [0]\nattention.scroe = \"dot\"",
       "x.toml:3:11: [attention] has no option 'scroe'; did you mean 'score'?"},
      {"[[block.override]]\nlayers = [0]\nmodel.width = 8",
       "x.toml:3:1: [[block.override]] has no option 'model'; it has 'layers', 'every', 'from', 'to', 'stack', " +
           [] {
             std::string out;
             for (const Option& o : find_table("block")->options) out += "'" + o.name + "', ";
             return out;
           }() +
           "'mixer', 'attention', 'position'"},
      {"[[block.override]]\nlayers = [0]\nattention.cosine.temperature = 2.0",
       "x.toml:3:18: attention.cosine.temperature does nothing: attention.score is 'scaled_dot' (built-in); it matters "
       "only where attention.score is 'cosine'"},
  });
}

TEST_CASE("Everything that is wrong is told at once, ten problems at most", "[config]") {
  CHECK(refusal_of("sed = 1\n[attention]\nscroe = \"dot\"\ncausal = 1") ==
        "x.toml:1:1: the top level has no option 'sed'; did you mean 'seed'?\n"
        "x.toml:3:1: [attention] has no option 'scroe'; did you mean 'score'?\n"
        "x.toml:4:10: attention.causal is the integer 1; it must be true or false, for example: causal = true");
  std::string many = "[train]\n";
  for (int i = 0; i < 13; ++i) many += "zzz" + std::to_string(i) + " = 1\n";
  const std::string text = refusal_of(many);
  CHECK(std::count(text.begin(), text.end(), '\n') == 10);
  CHECK(text.ends_with("\n... and 3 more"));
}

TEST_CASE("Files that cannot be read are refused", "[config]") {
  const Folder folder;
  const std::string here = folder.path().string();
  folder.write("copy.toml", "seed = 1");
  auto load = [&](const std::string& name) { return refusal([&] { Settings::load(folder.path() / name); }); };
  CHECK(load("cpoy.toml") == here + "/cpoy.toml: there is no such file; did you mean 'copy.toml'?");
  CHECK(load("") == here + "/: this is a folder; give a .toml file");
  folder.write("large.toml", std::string((1 << 20) + 1, '#'));
  CHECK(load("large.toml") == here + "/large.toml: this file is larger than 1 MiB, so it is no configuration");
  folder.write("binary.toml", std::string("\x7f"
                                          "ELF\x02\x01\0\0",
                                          8));
  CHECK(load("binary.toml").starts_with(here + "/binary.toml:1:1: this is not TOML: "));
}

TEST_CASE("An option of several choices does something where one of them holds", "[config]") {
  const std::string all = "[init]\nlinear = 0.1\n[model]\ninit_std = 0.1\n";
  CHECK(refusal_of(all) == ""); // embeddings use the option for their initial values
  const std::string untied =
      "[init]\nlinear = 0.1\nembedding = 0.1\n[model]\ninit_std = 0.1\ntied_embeddings = false\n";
  CHECK(refusal_of(untied) == ""); // the output layer uses it
  CHECK(refusal_of("[train]\nbatch_tokens = 500\nbatch = 8\nevaluate_batches = 2\n[task]\nkind = \"scan\"") == "");
  CHECK(refusal_of("[train]\nbatch_tokens = 500\nbatch = 8\nevaluate_random_batches = 2\n[task]\nkind = \"scan\"") ==
        "");
}
