#include "experiments/actions/new_config.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/data_guess.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>

namespace heed {

namespace {

constexpr std::size_t columns = 100;
constexpr char unbroken_space = '\x01'; ///< a space at which a comment is not wrapped

/// A kind of the user's own data. `word` is its name for `heed new`.
struct OwnData {
  std::string_view word, task;
  TaskFormat format;        ///< the format in which the task is used
  std::string_view example; ///< the path that stands in the configuration if none is given
  std::string_view file;    ///< what the path must be
};
constexpr std::array<OwnData, 4> own_data{{
    {"text", "text", TaskFormat::language_model, "text.txt", "A text file in UTF-8."},
    {"pairs", "translation", TaskFormat::sequence_to_sequence, "pairs.tsv",
     "A file with an input, a tab and an output on each line; or only the inputs, and `target` below names the file of "
     "the outputs."},
    {"labels", "labelled_text", TaskFormat::classification, "labels.csv",
     "A table with a column of texts and a column of labels."},
    {"images", "images", TaskFormat::image_classification, "images",
     "The folder with the files of MNIST (or of a set in its format), or of CIFAR-10."},
}};

const OwnData* own_data_named(std::string_view kind) {
  for (const OwnData& own : own_data)
    if (kind == own.word || kind == own.task) return &own;
  return nullptr;
}

bool reads_file(const TaskInfo& task) {
  return std::ranges::find(task.about.needs, "data.path") != task.about.needs.end();
}

/// The task of a kind. Throws heed::Refused if there is none.
const TaskInfo& task_of_kind(const std::string& kind) {
  const OwnData* own = own_data_named(kind);
  std::vector<std::string> kinds = new_config_kinds();
  for (const TaskInfo* task : task_kinds())
    if (task->about.name == (own ? own->task : kind)) {
      if (own || !reads_file(*task)) return *task;
      throw Refused(fmt::format("heed new does not know the files of the task {}; allowed: {}", kind,
                                fmt::join(kinds, ", ")));
    }
  throw Refused(fmt::format("\"{}\" is neither a kind of data nor a task{}\n"
                            "      allowed: {}\n"
                            "      the first four are for your own data",
                            kind, did_you_mean(kind, kinds), fmt::join(kinds, ", ")));
}

/// The format in which a generated task is used: the first one that the task accepts.
TaskFormat generated_format(const TaskInfo& info) {
  Config config;
  config.task.kind = info.about.name;
  const std::unique_ptr<Task> task = info.make(config);
  for (const TaskFormat format : {TaskFormat::language_model, TaskFormat::sequence_to_sequence,
                                  TaskFormat::classification, TaskFormat::image_classification})
    if (task->refuses(format).empty()) return format;
  throw Failed(fmt::format("the task {} accepts no format", info.about.name));
}

struct ModelWords {
  std::string_view kind, why;
};
ModelWords model_for(TaskFormat format) {
  switch (format) {
    case TaskFormat::language_model: return {"decoder", "A decoder predicts each token from the tokens before it."};
    case TaskFormat::sequence_to_sequence:
      return {"encoder_decoder", "An encoder reads the input. A decoder writes the output and attends to the encoder."};
    case TaskFormat::classification: return {"encoder", "An encoder reads the whole sequence and gives it one class."};
    case TaskFormat::image_classification:
      return {"patches", "A Transformer over the patches of an image, which gives the image one class."};
  }
  return {};
}

/// The text of a TOML file that grows line by line.
class ConfigText {
public:
  /// A comment whose lines are filled.
  void comment(std::string_view text) {
    std::string now;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      const std::string_view word = text.substr(begin, end - begin);
      if (!now.empty() && now.size() + 1 + word.size() > columns - 2) {
        line(now);
        now.clear();
      }
      now += now.empty() ? std::string(word) : fmt::format(" {}", word);
      begin = end + 1;
    }
    line(now);
  }
  /// A comment that is not wrapped.
  void line(std::string_view text) {
    std::string written = text.empty() ? "#\n" : fmt::format("# {}\n", text);
    std::ranges::replace(written, unbroken_space, ' ');
    out_ += written;
  }
  void table(std::string_view name) { out_ += fmt::format("\n[{}]\n", name); }
  void blank() { out_ += "\n"; }
  /// A setting with its comment above it.
  void set(std::string_view key, const Value& value, std::string_view why) {
    comment(why);
    raw(fmt::format("{} = {}", key, value_text(value)));
  }
  void set(std::string_view key, const char* word, std::string_view why) { set(key, Value(std::string(word)), why); }
  void set(std::string_view key, int number, std::string_view why) { set(key, Value(std::int64_t{number}), why); }
  /// A setting that is a comment, because it has no effect beside the others or because the user must choose.
  void suggest(std::string_view key, const Value& value, std::string_view why) {
    comment(why);
    line(fmt::format("{} = {}", key, value_text(value)));
  }
  void raw(std::string_view text) { out_ += fmt::format("{}\n", text); }
  std::string take() { return std::move(out_); }

private:
  std::string out_;
};

/// An option's meaning and what is allowed, from its table.
std::string description(const Option& option) {
  std::string text = option.meaning;
  if (text.ends_with('.')) text.pop_back();
  if (!option.default_meaning.empty()) text += fmt::format(". {}", option.default_meaning);
  if (!option.words.empty()) text += fmt::format(". Allowed: {}", list_in_words(option.words));
  if (const std::string bounds = bounds_in_words(option); !bounds.empty()) text += fmt::format(". Allowed: {}", bounds);
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

/// A configuration that is being written.
class Writer {
public:
  explicit Writer(const NewConfig& wanted)
      : wanted_(wanted), task_(task_of_kind(wanted.kind)), own_(own_data_named(wanted.kind)),
        format_(own_ ? own_->format : generated_format(task_)), model_(model_for(format_)) {
    if (own_) guess_ = guess_data(std::string(own_->word), wanted.data, wanted.program);
    else if (!wanted.data.empty())
      throw Refused(fmt::format("{} generates its examples and reads no file, so {} does nothing\n      for your own "
                                "data: text, pairs, labels or images",
                                wanted.kind, wanted.data.front()));
  }

  NewConfigText write() {
    head();
    if (own_) data();
    task();
    model();
    train();
    report();
    sweep();
    return {text_.take(), guess_.note};
  }

private:
  /// A command that a comment names; it stands on one line.
  std::string command(std::string_view words) const {
    std::string out = fmt::format("`{} {}`", wanted_.program, words);
    std::ranges::replace(out, ' ', unbroken_space);
    return out;
  }
  /// A setting, with the command that lists the other values.
  template <class V> void choose(std::string_view key, const V& value, std::string_view why, std::string_view words) {
    text_.set(key, value, fmt::format("{} Others: {}", why, command(words)));
  }
  std::string name() const { return own_ ? std::string(own_->word) : task_.about.name; }
  bool is_silent(std::string_view key) const {
    return std::ranges::find(task_.about.disables, key) != task_.about.disables.end();
  }

  void head() {
    text_.comment(fmt::format("{}: {}.", name(), task_.about.summary));
    text_.line("");
    text_.line("  " + shell_words({wanted_.program, "check", wanted_.file}));
    text_.line("  " + shell_words({wanted_.program, "run", wanted_.file}));
    text_.line("");
    text_.comment(fmt::format("Every option has a default. A line that you delete takes its default. {} lists all "
                              "options, and {} the options of one table.",
                              command("options"), command("options train")));
    text_.set("name", Value(name()), "The name of the experiment in reports.");
  }

  void data() {
    text_.table("data");
    const std::string path = wanted_.data.empty() ? std::string(own_->example) : wanted_.data.front();
    text_.set("path", Value(path),
              fmt::format("{}{} A relative path starts at the folder in which heed is started.{}{}",
                          wanted_.data.empty() ? "EDIT THIS LINE: the path of your data. " : "", own_->file,
                          guess_.note.empty() ? "" : " ", guess_.note));
    text_.set("train", Value(0.9), "The part of the data that the model is trained on. The rest is for validation.");
    if (format_ == TaskFormat::image_classification) return;
    if (format_ == TaskFormat::language_model) {
      choose("tokens", "characters", "What a token is.", "options data.tokens");
      return;
    }
    const std::string tokens = guess_.without_blanks ? "characters" : "words";
    text_.set("tokens", tokens,
              fmt::format("What a token is.{} Others: {}",
                          guess_.without_blanks ? " With words, each line of this file would be one token." : "",
                          command("options data.tokens")));
    if (tokens == "words")
      text_.set("max_vocabulary", 8000,
                "The most frequent words. All other words are one token, <unknown>. More words cost time and memory.");
    text_.set("max_length", 64,
              "The most tokens of an input and of an output. The time of attention grows with the square.");
    if (format_ == TaskFormat::sequence_to_sequence)
      text_.set("too_long", "drop", "Longer pairs are left out. \"cut\" would train on parts that do not match.");
    else text_.set("too_long", "cut", "Longer texts are cut. \"drop\" leaves them out.");
  }

  void task() {
    text_.table("task");
    choose("kind", Value(task_.about.name), "What the model learns.", "variants task");
    if (!is_silent("task.validation"))
      text_.set("validation", 512,
                "Examples that are never trained on. More make the results more exact and evaluations slower.");
    if (task_.about.options.empty()) return;
    text_.table("task." + task_.about.name);
    for (const Option& option : task_.about.options) {
      const std::string key = fmt::format("task.{}.{}", task_.about.name, option.name);
      const auto guessed = guess_.values.find(option.name);
      std::string why = description(option);
      if (guessed != guess_.values.end()) text_.set(option.name, guessed->second, why + guess_.how);
      else if (!has_effect(key)) text_.suggest(option.name, option.default_value, why + condition_of(key));
      else text_.set(option.name, option.default_value, why + guess_.edit(option.name));
    }
  }

  /// Whether an option has an effect beside the defaults of the others and the values that the data says.
  bool has_effect(const std::string& key) const {
    const Value kind(task_.about.name), path(own_ ? std::string(own_->example) : "");
    const std::string table = fmt::format("task.{}.", task_.about.name);
    return !unmet_dependency(key, [&](std::size_t option) -> const Value& {
      const std::string& name = all_keys()[option];
      if (name == "task.kind") return kind;
      if (name == "data.path") return path;
      if (name.starts_with(table))
        if (const auto found = guess_.values.find(name.substr(table.size())); found != guess_.values.end())
          return found->second;
      return find_option(name)->default_value;
    });
  }

  /// The condition under which an option has an effect, as a sentence.
  std::string condition_of(const std::string& key) const {
    std::string out;
    for (const OptionCondition& c : task_.about.conditions) {
      if (c.option != key) continue;
      const bool any = c.words == std::vector<std::string>{OptionCondition::anything};
      out += any ? fmt::format(" Only {} {}.", c.unless ? "without" : "with", c.on)
                 : fmt::format(" Only if {} is {}{}.", c.on, c.unless ? "none of " : "", list_in_words(c.words));
    }
    return out;
  }

  void model() {
    text_.table("model");
    choose("kind", Value(std::string(model_.kind)), model_.why, "variants model");
    text_.set("layers", 2, "Transformer blocks. Two are enough for most small tasks.");
    text_.set("width", 64, "The features of each token. It must be a multiple of `heads`. Time grows with its square.");
    text_.set("heads", 4, "Attention heads of each block, of width / heads features each.");
    text_.set("init_std", Value(task_.running_text ? 0.1 : 0.2),
              "The standard deviation of the initial weights. Small models learn sooner from larger weights than the "
              "0.02 of large models. Near 1 / sqrt(width) is safe for wider models.");
    if (format_ == TaskFormat::image_classification)
      if (const Option* patch = find_option("model.patches.patch")) {
        text_.table("model.patches");
        text_.set("patch", patch->default_value, description(*patch));
      }
    text_.table("attention");
    text_.set("score", "scaled_dot",
              fmt::format("How well a query fits a key. Others, with formulas: {}",
                          command("variants attention.score")));
    text_.table("position");
    choose("kind", "learned", "How the model knows the order of the tokens.", "variants position");
    text_.table("block");
    choose("norm", "pre", "The norm is before each part of a block (pre-norm), as in most models since GPT-2.",
           "options block.norm");
    choose("residual", "both", "Both attention and feed-forward are added to their input.", "options block.residual");
  }

  void train() {
    text_.table("train");
    text_.set("steps", 400,
              "Enough for a first answer in seconds. If the report says \"at chance\", the task needs more.");
    text_.set("batch", 32, "Examples in a step.");
    text_.set("learning_rate", Value(3e-3),
              "High, because the model is small. Wider and deeper models need less, such as 1e-3 or 3e-4.");
    text_.set("warmup", 40, "Steps in which the learning rate rises: a tenth of all steps.");
    choose("schedule", "cosine", "The learning rate then falls along a cosine.", "variants train.schedule");
    text_.set("clip", Value(1.0), "The largest norm of the gradient. A larger gradient is scaled down to it.");
    text_.set("evaluate_every", own_ ? 100 : 50, "Steps between evaluations: the points of learning curves.");
    if (own_)
      text_.set("evaluate_batches", 20,
                "The most validation batches of an evaluation, which keeps evaluations short. 0: the whole validation "
                "split.");
  }

  /// The metrics of this task and model that have a better direction.
  std::vector<std::string> metric_names() const {
    Settings settings;
    settings.override_with({fmt::format("task.kind={}", task_.about.name), fmt::format("model.kind={}", model_.kind)});
    if (own_) settings.override_with({fmt::format("data.path={}", own_->example)});
    std::vector<std::string> names;
    for (const Metric& metric : metrics_of(settings.resolve()))
      if (metric.is_goal() && metric.name.starts_with("val_")) names.push_back(metric.name);
    return names;
  }

  void report() {
    std::vector<std::string> others = metric_names();
    const std::string metric = task_.running_text ? "val_loss" : "val_accuracy";
    std::erase(others, metric);
    text_.table("report");
    text_.set("question",
              Value(fmt::format("Which parts of a small Transformer help with {}, and which score?",
                                own_ ? "my " + name() : name())),
              "What the sweep asks. Reports begin with it.");
    text_.set("metric", Value(metric), fmt::format("The metric that decides. Others: {}.", fmt::join(others, ", ")));
    constexpr std::string_view before = "Change it to what matters to you, before you see results.";
    if (task_.running_text)
      text_.set("margin", Value(0.05),
                fmt::format("Losses this close count as the same: 0.05 nats change the perplexity by 5 %. {}", before));
    else
      text_.set("margin", Value(0.02),
                fmt::format("Accuracies this close count as the same: 2 of 100 predictions. {}", before));
  }

  void sweep() {
    text_.blank();
    text_.comment("Everything above is the reference. The sweep compares it with the arms below, which change one "
                  "thing each: 5 arms with 6 seeds each are 30 runs.");
    text_.raw("[sweep]");
    text_.set(
        "seeds", Value(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}),
        "Six are the fewest that can tell an arm from the reference at 5 %. More seeds find smaller differences.");
    text_.blank();
    text_.comment(fmt::format("Other scores in place of the reference's. More: {}",
                              command("variants attention.score")));
    text_.raw("[[sweep.block]]\ngrid = { \"attention.score\" = [\"additive\", \"cosine\"] }");
    text_.blank();
    text_.comment("The reference without one of its parts.");
    text_.raw("[[sweep.block]]\nkind = \"leave_one_out\"\noff.position = { \"position.kind\" = \"none\" }\n"
              "off.residual = { \"block.residual\" = \"none\" }");
  }

  const NewConfig& wanted_;
  const TaskInfo& task_;
  const OwnData* own_;
  TaskFormat format_;
  ModelWords model_;
  DataGuess guess_;
  ConfigText text_;
};

} // namespace

std::vector<std::string> generated_kinds() {
  std::vector<std::string> kinds;
  for (const TaskInfo* task : task_kinds())
    if (!reads_file(*task)) kinds.push_back(task->about.name);
  return kinds;
}

std::vector<std::string> new_config_kinds() {
  std::vector<std::string> kinds;
  for (const OwnData& own : own_data) kinds.emplace_back(own.word);
  std::ranges::copy(generated_kinds(), std::back_inserter(kinds));
  return kinds;
}

NewConfigText new_config_text(const NewConfig& wanted) {
  // The comments name the files, so a line end in a path would end a comment.
  for (const std::string& path : wanted.data)
    if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      throw Refused("the path of the data has a control character; rename the file");
  return Writer(wanted).write();
}

bool needs_data_path(const NewConfig& wanted) { return own_data_named(wanted.kind) && wanted.data.empty(); }

} // namespace heed
