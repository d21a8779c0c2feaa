// Task `translation`: translate one text to another, line by line, from parallel files or a tab-separated file.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/tasks/cached_dataset.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/text_examples.hpp"

#include <fmt/format.h>

#include <array>

namespace heed {

extern const TaskInfo task_translation;

namespace {

struct TranslationOptions {
  std::string target = "";
  std::string validation_target = "";
  std::string test_target = "";
  bool shared_vocabulary = true;
  bool counts = false;
};

const OptionTable<TranslationOptions>& translation_option_table() {
  static const auto table = option_table<TranslationOptions>(
      option("target", &TranslationOptions::target,
             "the file of the outputs: line n is the output for line n of data.path")
          .default_means("none: data.path is a TSV with inputs in its first column and outputs in its second")
          .without_effect_on_results(),
      option("validation_target", &TranslationOptions::validation_target,
             "the file of the outputs: line n is the output for line n of data.validation_path")
          .default_means("none: data.validation_path is a TSV")
          .without_effect_on_results(),
      option("test_target", &TranslationOptions::test_target,
             "the file of the outputs: line n is the output for line n of data.test_path")
          .default_means("none: data.test_path is a TSV")
          .without_effect_on_results(),
      option("shared_vocabulary", &TranslationOptions::shared_vocabulary,
             "inputs and outputs share one vocabulary, which is built from both"),
      option("counts", &TranslationOptions::counts,
             "each file has a third column, with a 0 or 1 for each word of the output; loss and accuracy count only "
             "words with a 1"));
  return table;
}

/// Reads lines of an input, a tab and an output. `target` is the option that would name a separate file of outputs.
/// `counts`: each line has a third column.
void add_tsv(std::string_view bytes, const std::string& path, const std::string& target, bool counts,
             std::vector<TextExample>& examples) {
  each_line(text_of_rows(bytes, path), [&](std::int64_t number, std::string_view line) {
    if (line.empty()) return;
    const std::size_t tab = line.find('\t');
    if (tab == line.npos)
      throw Refused(fmt::format("{}:{}: there is no tab; a line is an input, a tab and its output. If the outputs are "
                                "in a separate file, name it: task.translation.{}=FILE",
                                path, number, target));
    std::string_view rest = line.substr(tab + 1);
    const std::size_t second = rest.find('\t');
    if (counts && second == rest.npos)
      throw Refused(
          fmt::format("{}:{}: there is no third column, and task.translation.counts is true; after the output, "
                      "write a tab and a 0 or 1 for each of its words",
                      path, number));
    examples.push_back({number, line.substr(0, tab), rest.substr(0, second)});
    if (!counts) return;
    rest.remove_prefix(second + 1);
    examples.back().counts = rest.substr(0, rest.find('\t'));
  });
}

std::vector<std::string_view> lines_of(std::string_view bytes, const std::string& path) {
  std::vector<std::string_view> lines;
  each_line(text_of_rows(bytes, path), [&](std::int64_t, std::string_view line) { lines.push_back(line); });
  return lines;
}

void add_lines(std::string_view inputs, const std::string& input_path, std::string_view outputs,
               const std::string& output_path, std::vector<TextExample>& examples) {
  const std::vector<std::string_view> from = lines_of(inputs, input_path), to = lines_of(outputs, output_path);
  if (from.size() != to.size())
    throw Refused(fmt::format("{} has {} lines and {} has {}; line n of one file must be the translation of line n of "
                              "the other, so their numbers of lines must be equal",
                              input_path, from.size(), output_path, to.size()));
  for (std::size_t i = 0; i < from.size(); ++i) examples.push_back({static_cast<std::int64_t>(i) + 1, from[i], to[i]});
}

/// Is the vocabulary independent of the text?
bool given(const Vocabulary& vocabulary, const DataOptions& data) {
  return !vocabulary.fingerprint().empty() || data.tokens == "bytes";
}

constexpr std::array<const char*, 3> target_names = {"target", "validation_target", "test_target"};

std::array<std::string, 3> targets_of(const TranslationOptions& options) {
  return {options.target, options.validation_target, options.test_target};
}

Dataset list_translation(const Config& config, const TranslationOptions& options) {
  const std::array<std::string, 3> targets = targets_of(options);
  const ExampleFiles files = read_example_files(config, [&](const std::string& option, const std::string& path,
                                                            Split split, ExampleFiles& to) {
    const std::string& bytes = to.keep(read_data_file("data", option, path));
    const auto index = static_cast<std::size_t>(split);
    const std::string& target = targets[index];
    if (target.empty() || option == "validation_sets") {
      add_tsv(bytes, path, target_names[index], options.counts, to.examples[index]);
      return fingerprint_of(bytes);
    }
    const std::string& outputs = to.keep(read_data_file("task.translation", target_names[index], target));
    add_lines(bytes, path, outputs, target, to.examples[index]);
    return fingerprint_of(bytes) + " " + fingerprint_of(outputs);
  });
  Dataset task;
  task.name = "translation";
  task.fingerprint = files.fingerprint;
  task.files = files.described(targets);
  const SplitExamples split = split_examples(config, files);
  std::vector<std::string_view> inputs = split.training(&TextExample::input),
                                outputs = split.training(&TextExample::output);
  if (options.shared_vocabulary) inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  task.input = make_vocabulary(config.data, inputs);
  task.output = options.shared_vocabulary || given(*task.input, config.data) ? task.input
                                                                             : make_vocabulary(config.data, outputs);
  task.fingerprint += " " + task.input->fingerprint();
  if (options.counts) task.fingerprint += " counts";
  list_examples(
      config.data, split, files, true,
      [&](const TextExample& example, std::vector<std::int32_t>& to) { task.output->encode(example.output, to); },
      task);
  task.chance = commonest_output_token(task);
  return task;
}

std::unique_ptr<Task> make_translation(const Config& config) {
  const TranslationOptions options = translation_option_table().read(config.task_options);
  std::vector<NamedFile> files = named_files(config);
  const std::array<std::string, 3> targets = targets_of(options);
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!targets[i].empty()) files.push_back({"task.translation", target_names[i], targets[i]});
  return listed_task(config, cached_dataset(config, files, [&] { return list_translation(config, options); }));
}

} // namespace

const TaskInfo task_translation = {
    {.name = "translation",
     .summary = "an output text for each input text, line by line: from two files, or from a file with a tab between "
                "input and output",
     .paper = "as in Sutskever, Vinyals and Le 2014, Sequence to Sequence Learning with Neural Networks, "
              "arXiv 1409.3215",
     .cost = "memory: the file's texts; sequences are as long as the texts, up to data.max_length",
     .options = translation_option_table().options(),
     .presets = {{"data.tokens", Value(std::string("words"))}},
     .disables = {"task.validation", "task.test"},
     .needs = {"data.path"},
     .uses = options_of_text_examples(),
     .conditions =
         {seed_of_splits(),
          {"task.translation.shared_vocabulary", "data.tokens", {"characters", "words"}},
          {"task.translation.counts", "task.translation.target", {OptionCondition::anything}, true},
          {"task.translation.counts", "task.translation.validation_target", {OptionCondition::anything}, true},
          {"task.translation.counts", "task.translation.test_target", {OptionCondition::anything}, true},
          {"task.translation.validation_target", "data.validation_path", {OptionCondition::anything}},
          {"task.translation.test_target", "data.test_path", {OptionCondition::anything}}}},
    make_translation};

} // namespace heed
