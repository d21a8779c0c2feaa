// Tests that no option is ignored. Each option of the catalogue is changed in a configuration where it is active, and
// the run must change; options that are documented as without effect on results must leave every bit unchanged.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/models/model.hpp"
#include "options/variant.hpp"
#include "tests/experiments/training/training_support.hpp"
#include "tests/wanted.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sentencepiece_trainer.h>
#include <set>
#include <sstream>

using namespace heed;
using namespace heed::test;

namespace {

// Assignments that an option needs in addition to the choices of variants that the catalogue knows.
const std::map<std::string, std::vector<std::string>> also_needed = {
    {"train.optimizer", {"train.adamw.weight_decay=0.1"}},   // without weight decay, adamw equals adam
    {"train.sgd.nesterov", {"train.sgd.momentum=0.9"}},      // it looks ahead along the momentum
    {"task.sort.test_length", {"task.sort.test_length=10"}}, // above the length of 8
    {"task.copy.test_length", {"task.copy.test_length=10"}},
    {"task.reverse.test_length", {"task.reverse.test_length=10"}},
    {"task.parity.test_length", {"task.parity.test_length=20"}},
    {"task.listops.test_length", {"task.listops.test_length=80"}},
    {"task.addition.test_digits", {"task.addition.test_digits=5"}},
    {"task.dyck.test_length", {"task.dyck.test_length=40"}},           // above the length of 32, and even
    {"task.induction.test_length", {"task.induction.test_length=20"}}, // above the length of 16
    {"task.group.test_length", {"task.group.test_length=40"}},         // above the length of 32
    {"task.stack.test_length", {"task.stack.test_length=40"}},         // above the length of 32
    {"task.modular_arithmetic.test_length", {"task.modular_arithmetic.test_length=25"}}, // above the length, and odd
    // A search chooses among outputs that the model has learned to distinguish; a single output leaves no choice.
    {"train.evaluate_beam", {"train.steps=60", "task.validation=80"}},
    {"train.evaluate_length_penalty", {"train.evaluate_beam=3", "train.steps=60", "task.validation=80"}},
    {"task.scan.cutoff", {"task.scan.cutoff=10", "train.evaluate_batches=4"}}, // no command has 23 actions
    {"task.scan.split", {"train.evaluate_batches=4"}},
    {"data.bucket", {"train.evaluate_batches=4"}},
    {"attention.convolution_on", {"attention.convolution=2"}},
    {"attention.selection_block", {"attention.selection=moba", "attention.selection_chosen=1"}},
    {"attention.selection_chosen", {"attention.selection=moba", "attention.selection_block=1"}},
    {"attention.selection_window", {"attention.selection=nsa"}},
    {"mixer.convolution_bias", {"mixer.convolution=2"}},
    {"mixer.keys", {"mixer.decay=log_sigmoid"}}, // which decays by channel
    {"recurrent.reach",
     {"recurrent.reach=local_m", "recurrent.window=1"}}, // sequences are shorter than the usual window
    {"recurrent.window", {"recurrent.window=1"}},
    // the number of groups divides the number of channels
    {"model.patches.channels", {"model.patches.channels=4", "model.patches.groups=1"}},
    {"model.patches.groups", {"model.patches.channels=12"}},
    {"position.t5.both_sides", {"position.t5.buckets=8"}},
    {"attention.latent.rotary_base", {"attention.latent.rotary_width=4"}},
    {"position.rotary.evaluation_scaling", {"train.evaluate_lengths=[9]"}},
    {"position.rotary.evaluation_factor", {"train.evaluate_lengths=[9]"}},
    {"position.t5.furthest", {"position.t5.buckets=6", "position.t5.furthest=4"}}, // sequences are short
    // enough for the longest sequence, and for twice and four times as much
    {"train.batch_tokens", {"train.batch_tokens=35"}},
    {"train.evaluate_length_penalty_kind",
     {"train.evaluate_beam=3", "train.evaluate_length_penalty=2", "train.steps=60", "task.validation=80"}},
    {"train.evaluate_bleu_tokenization", {"model.kind=encoder_decoder", "train.evaluate_beam=1"}},
    {"model.segment_end", {"attention.mask_mod=segment_i == segment_j", "model.segment_end=0"}},
    {"train.dropout_seed", {"model.dropout=0.5"}},
    {"task.labelled_text.header", {"task.labelled_text.text=1", "task.labelled_text.label=2"}},
};

// Numbers that choose among outputs: a small change may choose the same ones.
const std::map<std::string, double> least_changes = {{"train.evaluate_length_penalty", 0.5}};

// Whether this configuration can show the effect of the option. Generated tasks output digits, and every tokenization
// of BLEU gives the same words for digits. On held-out files of other words, no output is right.
// Labelled texts have so few words that every distance has a bucket of its own.
bool shows(const std::string& key, const Config& c) {
  if (key == "position.t5.furthest") return c.task.kind != "labelled_text";
  return key != "train.evaluate_bleu_tokenization" || (c.task.kind == "translation" && c.data.validation_path.empty());
}

// Values to try in place of nearby values: for example, sequences of one length need whole numbers, and sequences are
// short.
const std::map<std::string, std::vector<Value>> values_to_try = {
    // neither the run's seed nor the task's
    {"init.seed", {std::int64_t{2}, std::int64_t{5}}},
    {"data.order_seed", {std::int64_t{2}, std::int64_t{5}}},
    {"data.split_seed", {std::int64_t{2}, std::int64_t{5}}},
    {"train.dropout_seed", {std::int64_t{2}, std::int64_t{5}}},
    {"train.batch_tokens", {std::int64_t{70}, std::int64_t{140}}},
    {"train.evaluate_lengths", {std::vector<std::int64_t>{5}, std::vector<std::int64_t>{9, 12}}},
    {"attention.mask_mod", {std::string("abs(i - j) < 2")}},
    {"attention.cross_mask_mod", {std::string("j <= i")}},
    {"model.segment_end", {std::string("1"), std::string("2 3"), std::string("a")}},
    {"attention.selection", {std::string("nsa")}},                     // moba chooses all blocks of the usual size
    {"attention.selection_block", {std::int64_t{1}, std::int64_t{2}}}, // sequences are short
    {"attention.selection_chosen", {std::int64_t{1}, std::int64_t{2}}},
    {"attention.selection_window", {std::int64_t{1}, std::int64_t{2}}},
    {"attention.prefix", {std::int64_t{3}}},      // every query sees the first position anyway
    {"task.dyck.min_length", {std::int64_t{20}}}, // an even number
    {"task.induction.min_length", {std::int64_t{12}}},
    {"task.stack.min_length", {std::int64_t{20}}},               // at least 2
    {"task.modular_arithmetic.test_length", {std::int64_t{31}}}, // an odd number
    {"task.group.group", {std::string("Z6"), std::string("S4")}},
    {"mixer.key_ratio", {0.5, 2.0}}, // whole widths
    {"mixer.value_ratio", {0.5, 2.0}},
    {"attention.top_k.k", {std::int64_t{1}, std::int64_t{2}}},
    {"attention.latent.rotary_width", {std::int64_t{2}}},    // pairs of features
    {"position.rotary.original_length", {std::int64_t{64}}}, // the fastest pair rotates more than once
    {"position.rotary.evaluation_factor", {WordOrNumber{"", 3.0}, WordOrNumber{"", 5.0}}},
    {"position.t5.furthest", {std::int64_t{16}}}};

// The value that "same" or "usual" stands for in an option of words. Choosing this value by its name changes nothing.
std::string left_to_others(const std::string& key, const Config& c) {
  const bool block_bias = key == "attention.qkv_bias" || key == "attention.output_bias" || key == "block.norm_bias";
  if (block_bias) return c.layers[0].block.bias ? "yes" : "no";
  if (key != "model.head_bias") return "";
  return c.model.kind == "decoder" || c.model.kind == "encoder_decoder" ? "no" : "yes";
}

// Options that name a file: another file of the same content must change nothing.
const std::vector<std::string> paths = {"data.path",
                                        "data.sentencepiece",
                                        "data.validation_path",
                                        "data.test_path",
                                        "task.translation.target",
                                        "task.translation.validation_target",
                                        "task.translation.test_target"};

// An option with only one word cannot be changed.
bool has_one_word(const Option& option) { return option.type == OptionType::text && option.words.size() == 1; }

// A valid configuration and its task.
struct Runnable {
  Config config;
  std::unique_ptr<Task> task;
};

// The results of a run, exact to the last bit and in the order in which they are made: each record of its metrics, its
// last checkpoint, and the test split's metrics, unless the test split has thousands of sequences (SCAN).
using Results = std::vector<std::string>;

// Gives a run's results to `next` until it returns false; the rest of the run is then left out.
void each_result(const Runnable& run, const std::function<bool(std::string)>& next) {
  struct Enough {};
  const auto& [config, task] = run;
  std::optional<Checkpoint> last;
  TrainingHooks hooks;
  hooks.measured = [&](const MetricsRecord& m) {
    if (!next(text_of({m}))) throw Enough();
  };
  hooks.checkpoint = [&](const Checkpoint& c) { last = c; };
  try {
    engine(config).train(config, *task, {}, hooks);
  } catch (const Enough&) {
    return;
  }
  if (!next(text_of(last.value()))) return;
  const std::int64_t sequences = task->evaluation_sequences(f32::model_info(config.model.kind).format, Split::test);
  if (sequences > 0 && sequences < 1000) next(text_of({engine(config).evaluate(config, *task, *last, Split::test)}));
}

Results results(const Runnable& run) {
  Results out;
  each_result(run, [&](std::string result) {
    out.push_back(std::move(result));
    return true;
  });
  return out;
}
Results results(const Config& c) { return results({c, make_task(c)}); }

// Whether a run has other results than these. It ends at the first difference.
bool differs(const Runnable& run, const Results& from) {
  std::size_t same = 0;
  bool all_same = true;
  each_result(run, [&](const std::string& result) {
    all_same = same < from.size() && result == from[same++];
    return all_same;
  });
  return !all_same || same < from.size();
}

// An option's value in a configuration.
Value value_in(const Config& c, const std::string& key) {
  const auto dot = key.rfind('.');
  const std::string table = dot == std::string::npos ? "" : key.substr(0, dot), name = key.substr(dot + 1);
  for (const Section& s : sections())
    if (s.table == table)
      return (s.get ? s.get(c) : s.get_layer(c.layers[0])).at(option_index(key) - first_option(table));
  for (const FamilyPlace& place : family_places())
    for (const Variant* v : place.family.variants)
      if (full_name(place.family.table, v->name) == table) {
        const OptionValues& values = place.options ? c.*place.options : c.layers[0].*place.layer_options;
        const auto found = values.find(name); // a variant that was not chosen has no options
        return found == values.end() ? find_option(key)->default_value : found->second;
      }
  throw Failed("there is no option " + key);
}

// Values other than an option's default, which differ from it by more than rounding.
std::vector<Value> clearly_other(const Option& option) {
  std::vector<Value> out;
  for (Value& v : test::other_values(option)) {
    if (const auto* x = std::get_if<double>(&v))
      if (std::abs(*x - std::get<double>(option.default_value)) < 1e-9) continue;
    out.push_back(std::move(v));
  }
  return out;
}

// Other values near the configuration's value. An option that may name the choice of another option (cross_score) keeps
// its value where it does.
std::vector<Value> values_near(const std::string& key, const Config& c) {
  if (const auto chosen = values_to_try.find(key); chosen != values_to_try.end()) return chosen->second;
  Option option = *find_option(key);
  option.default_value = value_in(c, key);
  std::vector<Value> out = clearly_other(option);
  if (!option.variants_of.empty()) std::erase(out, value_in(c, option.variants_of));
  if (const std::string same = left_to_others(key, c); !same.empty()) std::erase(out, Value(same));
  if (const auto least = least_changes.find(key); least != least_changes.end())
    std::erase_if(out, [&](const Value& v) {
      return std::abs(std::get<double>(v) - std::get<double>(option.default_value)) < least->second;
    });
  return out;
}

// The changes that make an option active: each choice that it depends on, and the choices that those choices depend on.
std::vector<std::string> enabling(const std::string& key, const Config& base) {
  std::vector<std::string> out;
  const auto add = [&](const auto& self, const std::string& option) -> void {
    for (const OptionCondition& d : dependencies()) {
      if (d.option != option) continue;
      if (d.words.front() == OptionCondition::anything) {
        if (is_given(value_in(base, d.on)) && d.unless) out.push_back(d.on + "=@default");
        continue; // required values are set in some base
      }
      const auto chosen = choice_word(value_in(base, d.on));
      const bool listed = std::count(d.words.begin(), d.words.end(), chosen) > 0, met = listed != d.unless;
      if (met && d.unless) continue; // that choice need not have an effect
      self(self, d.on);
      if (met) continue;
      if (d.words[0] == OptionCondition::anything) continue; // also_needed has it
      std::string word = d.words[0];
      if (d.unless) {
        const std::vector<std::string>& words = find_option(d.on)->words;
        word = *std::ranges::find_if(words, [&](const auto& w) { return std::ranges::count(d.words, w) == 0; });
      }
      out.push_back(d.on + "=" + word);
    }
  };
  add(add, key);
  if (const auto more = also_needed.find(key); more != also_needed.end())
    for (const std::string& assignment : more->second) {
      const std::string option = assignment.substr(0, assignment.find('=') + 1);
      std::erase_if(out, [&](const std::string& earlier) { return earlier.starts_with(option); });
      out.push_back(assignment);
    }
  return out;
}

// Base runs of a few milliseconds: decoders for a generated task, for a text and for pairs; an encoder-decoder for the
// generated task; encoders for a generated task and for labelled texts; a model for images; and pairs with a file for
// each split. Their files exist twice, in the folders a and b.
struct Bases {
  Folder folder;

  Bases() {
    std::string text, inputs, outputs, counted, labelled = "1,2,text,label,other,x\ttext\tlabel\tother\n";
    const auto words = [](int i, int count) {
      std::string out;
      for (int j = 0; j < count; ++j) out += std::string(j ? " " : "") + fmt::format("w{}", (i * i + j * (i + 3)) % 97);
      return out;
    };
    std::string held_in, held_out;
    for (int i = 0; i < 20; ++i) { // more than two batches
      held_in += words(3 * i + 1, 1 + i % 4) + "\n";
      held_out += words(5 * i + 2, 1 + i % 3) + "\n";
    }
    for (int i = 0; i < 1500; ++i) text += static_cast<char>('a' + (i * i + i / 5) % 7);
    for (int i = 0; i < 120; ++i) {
      inputs += words(i, 1 + i % 6) + "\n";
      // Words that each of BLEU's tokenizations splits differently.
      std::string line = words(i + 7, 1 + i * i % 7);
      for (std::size_t at = 0; (at = line.find(' ', at)) != line.npos; at += 9) line.replace(at, 1, ",«a»+b ");
      outputs += line + ",«a»+b\n";
      counted += words(i, 1 + i % 4) + "\t" + words(i + 1, 2) + "\t0 1\n";
      // A table that can be read with commas or with tabs; its columns 1 and 2 also have these names.
      const std::string label = i % 3 ? "yes" : "no";
      labelled += fmt::format("{},{},{},{},{},x\t{}\t{}\t{}\n", words(i, 2), label, words(i, 1 + i % 6), label,
                              words(i, 1), words(i + 1, 3), label, words(i, 1));
    }
    for (const char* copy : {"a/", "b/"}) {
      folder.write(std::string(copy) + "text.txt", text);
      folder.write(std::string(copy) + "inputs.txt", inputs);
      folder.write(std::string(copy) + "outputs.txt", outputs);
      folder.write(std::string(copy) + "counted.tsv", counted);
      folder.write(std::string(copy) + "labelled.csv", labelled);
      folder.write(std::string(copy) + "held_in.txt", held_in);
      folder.write(std::string(copy) + "held_out.txt", held_out);
    }
    const std::string model = path("pieces");
    const auto status = sentencepiece::SentencePieceTrainer::Train("--input=" + path("inputs.txt") +
                                                                   " --model_prefix=" + model +
                                                                   " --vocab_size=20 --model_type=bpe --minloglevel=2");
    if (!status.ok()) throw Failed(status.ToString());
    std::filesystem::copy_file(model + ".model", (folder.path() / "b" / "pieces.model").string());
  }

  std::string path(const std::string& name) const { return (folder.path() / "a" / name).string(); }
  /// Another file with the same content.
  static std::string twin(std::string path) { return path.replace(path.rfind("/a/"), 3, "/b/"); }

  std::string with_file(const std::string& file, const std::string& kind, const std::string& more) const {
    return fmt::format(R"(
seed = 1
[data]
path = "{}"
train = 0.7
test = 0.1
{}
[task]
kind = "{}"
{}
[model]
layers = 2
width = 8
heads = 2
init_std = 0.3
kind = "{}"
[train]
steps = 6
batch = 6
shards = 2
threads = 1
learning_rate = 0.01
log_every = 1
evaluate_every = 3
)",
                       path(file), kind == "text" ? "" : "max_length = 4", kind, more,
                       kind == "labelled_text" ? "encoder" : "decoder");
  }
  std::vector<std::string> all() const {
    return {
        tiny_decoder,
        with_file("text.txt", "text", "[task.text]\nblock = 6"),
        with_file("inputs.txt", "translation", fmt::format("[task.translation]\ntarget = \"{}\"", path("outputs.txt"))),
        tiny_encoder_decoder,
        tiny_encoder,
        tiny_patches,
        with_file("labelled.csv", "labelled_text", ""),
        with_files_apart()};
  }

  // A translation task whose splits have files of their own.
  std::string with_files_apart() const {
    std::string text = with_file("inputs.txt", "translation",
                                 fmt::format("[task.translation]\ntarget = \"{}\"\nvalidation_target = \"{}\"\n"
                                             "test_target = \"{}\"",
                                             path("outputs.txt"), path("held_out.txt"), path("held_out.txt")));
    const std::string fractions = "train = 0.7\ntest = 0.1\n";
    text.replace(text.find(fractions), fractions.size(),
                 fmt::format("validation_path = \"{0}\"\ntest_path = \"{0}\"\n", path("held_in.txt")));
    return text;
  }

  std::vector<std::string> needed_files(const std::string& key) const {
    if (key == "task.translation.counts")
      return {"data.path=" + path("counted.tsv"), "task.translation.target=@default"};
    if (key == "data.validation_sets") return {fmt::format("data.validation_sets=[\"all = {}\"]", path("text.txt"))};
    if (key != "data.sentencepiece") return {};
    return {"data.sentencepiece=" + path("pieces.model")};
  }
};

// The configuration of the settings, if it is valid.
std::optional<Runnable> runnable(const Settings& settings) {
  try {
    Config c = settings.resolve();
    auto task = make_task(c);
    engine(c).check(c, *task);
    return Runnable{std::move(c), std::move(task)};
  } catch (const Refused&) {
    return {};
  }
}

// The results of configurations before an option is changed; many options share such a configuration.
using Known = std::map<std::vector<std::string>, Results>;

// Whether the option belongs to a variant that is wanted (tests/wanted.hpp): position.t5.buckets to t5.
bool of_wanted_variant(const std::string& key) {
  std::istringstream words(key);
  for (std::string word; std::getline(words, word, '.');)
    if (wanted(word)) return true;
  return false;
}

// Tries an option's values in a base; returns the number of values that could be tried.
int try_option(const std::string& key, const std::string& base_text, const Bases& bases, Known& known) {
  Settings base = Settings::parse(base_text, "base.toml");
  std::vector<std::string> changes = enabling(key, base.resolve());
  for (const std::string& needed : bases.needed_files(key)) changes.push_back(needed);
  base.override_with(changes);
  const std::optional<Runnable> before = runnable(base);
  if (!before || !shows(key, before->config)) return 0;
  changes.push_back(base_text);
  Results& unchanged = known[changes];
  if (unchanged.empty()) unchanged = results(*before);
  int tried = 0;
  std::vector<Value> values = values_near(key, before->config);
  if (std::count(paths.begin(), paths.end(), key) > 0) {
    const auto path = std::get<std::string>(value_in(before->config, key));
    if (path.empty()) return 0;
    values = {Value(Bases::twin(path))};
  }
  if (key == "data.validation_sets") {
    const auto sets = std::get<std::vector<std::string>>(value_in(before->config, key));
    values = {Value(std::vector<std::string>{Bases::twin(sets.at(0))})};
  }
  for (const Value& value : values) {
    const std::optional<Runnable> after = runnable(base.with({{key, value, {"sweep", 0, 0, 0}}}));
    if (!after) continue;
    ++tried;
    INFO(key << " = " << value_text(value) << " instead of " << value_text(value_in(before->config, key)));
    CHECK(differs(*after, unchanged) == find_option(key)->changes_results);
  }
  return tried;
}

} // namespace

TEST_CASE("every option changes the run, or, where it says so, none of its bits", "[training][options][many]") {
  const Bases bases;
  Known known;
  for (const std::string& key : all_keys()) {
    // each of these programs has only its own instruction set; tests/kernels/ covers all
    if (key == "engine.kernels") continue;
    if (key.starts_with("train.start")) continue; // needs another run: tests/experiments/runs/run_start_test.cpp
    if (find_option(key)->of_tables) continue;    // see below
    if (!of_wanted_variant(key)) continue;
    int tried = 0;
    // An option of a task acts through the data, which any model shows.
    for (const std::string& base : bases.all())
      if (tried == 0 || !key.starts_with("task.")) tried += try_option(key, base, bases, known);
    INFO(key << " could not be changed in any of the runs");
    if (has_one_word(*find_option(key))) CHECK(tried == 0);
    else CHECK(tried > 0);
  }
}

namespace {

// Options without a visible effect beside some variant in runs as small as these, and the reasons.
const std::map<std::string, std::string> no_effect_here = {
    {"train.evaluate_beam", "of what so small a model puts out, a wider search finds the same"},
    {"train.evaluate_length_penalty", "likewise, whatever it thinks of lengths"},
    {"position.t5.furthest", "sequences are so short that each distance has a bucket of its own"}};

/// The options that have an effect beside a variant, in any run in which they are active.
struct Beside {
  int tried = 0;
  bool acts = false;
};

/// Changes each active option of a configuration that has shown no effect yet, and records the options that change the
/// run.
void try_active_options(const Settings& settings, const Runnable& before, const std::string& chosen,
                        std::map<std::string, Beside>& found) {
  Results unchanged;
  for (const FlatOption& option : flatten(before.config)) {
    if (!option.changes_results || option.key == chosen || option.key == "engine.kernels" ||
        option.key.starts_with("train.start") || option.key.find('[') != std::string::npos)
      continue;
    const Option* known = find_option(option.key);
    if (!known || known->of_tables || no_effect_here.contains(option.key) ||
        std::ranges::count(paths, option.key) > 0 || !shows(option.key, before.config))
      continue;
    Beside& beside = found[option.key];
    if (beside.acts) continue;
    if (unchanged.empty()) unchanged = results(before);
    for (const Value& value : values_near(option.key, before.config)) {
      const std::optional<Runnable> after = runnable(settings.with({{option.key, value, {"sweep", 0, 0, 0}}}));
      if (!after) continue;
      ++beside.tried;
      beside.acts = differs(*after, unchanged);
      if (beside.acts) break;
    }
  }
}

} // namespace

TEST_CASE("beside each variant of each family, every option that is active changes the run",
          "[training][options][many]") {
  const Bases bases;
  std::vector<std::string> silent;
  for (const FamilyPlace& place : family_places())
    for (const Variant* variant : place.family.variants) {
      if (!wanted(variant->name)) continue;
      if (variant->name == "scan") continue; // each of its runs makes 20,910 commands, for a third of a second
      std::map<std::string, Beside> found;
      for (const std::string& base : bases.all()) {
        Settings settings = Settings::parse(base, "base.toml");
        std::vector<std::string> changes = {place.key + "=" + variant->name};
        settings.override_with(changes);
        if (const std::optional<Runnable> run = runnable(settings))
          try_active_options(settings, *run, place.key, found);
      }
      for (const auto& [key, beside] : found)
        if (beside.tried > 0 && !beside.acts)
          silent.push_back(fmt::format("{} beside {} = {}", key, place.key, variant->name));
    }
  INFO(fmt::format("{}", fmt::join(silent, "\n")));
  CHECK(silent.empty());
}

TEST_CASE("every option of a formula's parameter changes the run", "[training][options]") {
  const std::vector<std::string> base = {"attention.score_mod=s * x + y[i - j] + z",
                                         "attention.parameters.x.start=1",
                                         "attention.parameters.y.size=2",
                                         "attention.parameters.y.start=n",
                                         "attention.parameters.z.per=distance",
                                         "attention.parameters.z.start=(i - j) / 9"};
  std::set<Results> found = {results(config(tiny_decoder)), results(config(tiny_decoder, base))};
  std::set<std::string> tried;
  std::size_t runs = 2;
  for (const std::string change : {"x.per=head", "x.start=2", "x.learned=false", "y.size=3", "z.furthest=1"}) {
    INFO(change);
    std::vector<std::string> assignments = base;
    assignments.push_back("attention.parameters." + change);
    CHECK(found.insert(results(config(tiny_decoder, assignments))).second);
    CHECK(found.size() == ++runs);
    tried.insert(change.substr(2, change.find('=') - 2));
  }
  CHECK(tried.size() == find_table("attention.parameters.x")->options.size());
}

TEST_CASE("every option of a block changes the run when one block has another value", "[training][options]") {
  // The first block: the last block's output at early positions may have no effect, if no target is there.
  const Results plain = results(config(tiny_decoder));
  int tried = 0;
  for (const std::string& key : all_keys()) {
    const auto in_override = [](const std::string& k) { return k.starts_with("block.") ? k.substr(6) : k; };
    if (!belongs_to_blocks(key) || has_one_word(*find_option(key)) || find_option(key)->of_tables) continue;
    if (key.starts_with("position.sinusoidal.")) continue; // a scheme of the whole model
    std::string needed;                                    // the choice of the variant that the option belongs to
    std::vector<std::string> of_run;                       // settings that the whole run must have
    if (key.starts_with("position.")) of_run.push_back("position.kind=none");
    if (key == "position.shared") of_run.push_back("model.layers=3"); // two blocks share
    Results base = plain;
    for (const std::string& a : enabling(key, config(tiny_decoder, of_run))) {
      const auto equals = a.find('=');
      const std::string on = a.substr(0, equals);
      const bool text = find_option(on)->type == OptionType::text;
      const std::string line = in_override(on) + (text ? " = \"" : " = ") + a.substr(equals + 1) +
                               (text ? "\"\n" : "\n");
      if (!belongs_to_blocks(on)) of_run.push_back(a);
      else if (needed.find(line) == std::string::npos) needed += line;
    }
    const auto with_override = [&](const std::string& lines) {
      // Value residuals change the blocks after the first one.
      const bool in_later = key == "attention.value_residual" || key.starts_with("mixer.rwkv7.value_");
      const std::string blocks = key == "position.shared" ? "[0, 1]" : in_later ? "[1]" : "[0]";
      return config(tiny_decoder + (lines.empty() ? "" : "[[block.override]]\nlayers = " + blocks + "\n" + lines),
                    of_run);
    };
    if (!needed.empty() || !of_run.empty()) base = results(with_override(needed));
    std::string beside = needed; // without a value of the option itself
    if (const auto own = beside.find(in_override(key) + " = "); own != beside.npos)
      beside.erase(own, beside.find('\n', own) + 1 - own);
    for (const Value& value : values_near(key, with_override(needed))) {
      if (key == "position.kind" && std::ranges::count(positions_of_blocks(), std::get<std::string>(value)) == 0)
        continue; // of the whole model
      const std::string line = in_override(key) + " = " + value_text(value) + "\n";
      INFO(needed << line);
      ++tried;
      if (line == "attention.cross_normalizer = \"stick_breaking\"\n") // orders keys, which cross attention can't
        CHECK_THROWS_WITH(results(with_override(beside + line)), Catch::Contains("only self attention can use it"));
      else CHECK((results(with_override(beside + line)) != base));
    }
  }
  CHECK(tried > 20);
}

TEST_CASE("Nesterov's momentum without a momentum is refused", "[training][options]") {
  const Config c = config(tiny_decoder, {"train.optimizer=sgd", "train.sgd.nesterov=true"});
  CHECK_THAT(refusal([&] { engine(c).check(c, *make_task(c)); }),
             Catch::Contains("train.sgd.nesterov") && Catch::Contains("momentum"));
}
