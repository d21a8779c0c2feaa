// Task `translation`: from one text to another, line by line.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/text_rows.hpp"

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
             "the file of the outputs, line by line with data.path, which then has the inputs")
          .default_means("none: data.path is a TSV with inputs in its first column and outputs in its second")
          .without_effect_on_results(),
      option("validation_target", &TranslationOptions::validation_target,
             "the file of the outputs, line by line with data.validation_path")
          .default_means("none: data.validation_path is a TSV")
          .without_effect_on_results(),
      option("test_target", &TranslationOptions::test_target,
             "the file of the outputs, line by line with data.test_path")
          .default_means("none: data.test_path is a TSV")
          .without_effect_on_results(),
      option("shared_vocabulary", &TranslationOptions::shared_vocabulary,
             "inputs and outputs are numbered by one vocabulary, from both together"),
      option("counts", &TranslationOptions::counts,
             "a third column of each file says which words of the output count in loss and accuracy: a 0 or 1 for each")
          .neutral(false));
  return table;
}

/// `target`: the option that would name a file of outputs. `counts`: there is a third column.
void add_tsv(const std::string& bytes, const std::string& path, const std::string& target, bool counts,
             std::vector<TextRow>& rows) {
  for (TableRow& row : read_tsv(bytes, path)) {
    if (row.cells.size() < 2)
      throw Refused(fmt::format("{}:{}: there is no tab; a line is an input, a tab and its output. If the outputs "
                                "stand in a file of their own, name it: task.translation.{}=FILE",
                                path, row.line, target));
    if (counts && row.cells.size() < 3)
      throw Refused(
          fmt::format("{}:{}: there is no third column, and task.translation.counts is true; after the output, "
                      "write a tab and a 0 or 1 for each of its words",
                      path, row.line));
    rows.push_back({row.line, std::move(row.cells[0]), std::move(row.cells[1])});
    if (counts) rows.back().counts = std::move(row.cells[2]);
  }
}

void add_lines(const std::string& inputs, const std::string& input_path, const std::string& outputs,
               const std::string& output_path, std::vector<TextRow>& rows) {
  std::vector<TableRow> from = read_lines(inputs, input_path), to = read_lines(outputs, output_path);
  if (from.size() != to.size())
    throw Refused(fmt::format("{} has {} lines and {} has {}; line n of one must be the translation of line n of the "
                              "other, so they must have as many",
                              input_path, from.size(), output_path, to.size()));
  for (std::size_t i = 0; i < from.size(); ++i)
    rows.push_back({from[i].line, std::move(from[i].cells[0]), std::move(to[i].cells[0])});
}

/// Kinds of tokens whose vocabulary is the same whatever the text.
bool given(const Vocabulary& vocabulary, const DataOptions& data) {
  return !vocabulary.fingerprint().empty() || data.tokens == "bytes";
}

std::unique_ptr<Task> make_translation(const Config& config) {
  const TranslationOptions options = translation_option_table().read(config.task_options);
  const std::array<std::string, 3> targets = {options.target, options.validation_target, options.test_target};
  constexpr std::array<const char*, 3> names = {"target", "validation_target", "test_target"};
  const RowFiles files = read_row_files(config.data, [&](const std::string& option, const std::string& path,
                                                         Split split, std::vector<TextRow>& rows) {
    const std::string bytes = read_data_file("data", option, path);
    const auto index = static_cast<std::size_t>(split);
    const std::string& target = targets[index];
    if (target.empty()) {
      add_tsv(bytes, path, names[index], options.counts, rows);
      return fingerprint_of(bytes);
    }
    const std::string outputs = read_data_file("task.translation", names[index], target);
    add_lines(bytes, path, outputs, target, rows);
    return fingerprint_of(bytes) + " " + fingerprint_of(outputs);
  });
  Listing task;
  task.name = "translation";
  task.fingerprint = files.fingerprint;
  task.files = files.described(targets);
  const SplitRows split = split_rows(config, files);
  std::vector<std::string_view> inputs = split.training(&TextRow::input), outputs = split.training(&TextRow::output);
  if (options.shared_vocabulary) inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  task.input = make_vocabulary(config.data, inputs);
  task.output = options.shared_vocabulary || given(*task.input, config.data) ? task.input
                                                                             : make_vocabulary(config.data, outputs);
  task.fingerprint += " " + task.input->fingerprint();
  if (options.counts) task.fingerprint += " counts";
  list_rows(
      config.data, split, files, true,
      [&](const TextRow& row, std::vector<std::int32_t>& to) { task.output->encode(row.output, to); }, task);
  task.chance = commonest_output_token(task);
  return listed_task(config, std::move(task));
}

} // namespace

const TaskInfo task_translation = {
    {.name = "translation",
     .summary = "a text from another, line by line: from two files, or a file with a tab between input and output",
     .paper = "as in Sutskever, Vinyals and Le 2014, Sequence to Sequence Learning with Neural Networks, "
              "arXiv 1409.3215",
     .equals = "",
     .cost = "the file's texts in memory; rows as long as the texts, up to data.max_length",
     .options = translation_option_table().options(),
     .presets = {{"data.tokens", Value(std::string("words"))}},
     .silences = {"task.validation", "task.test"},
     .needs = {"data.path"},
     .uses = options_of_text_rows(),
     .conditions =
         {{"task.translation.shared_vocabulary", "data.tokens", {"characters", "words"}},
          {"task.translation.counts", "task.translation.target", {OptionCondition::anything}, true},
          {"task.translation.counts", "task.translation.validation_target", {OptionCondition::anything}, true},
          {"task.translation.counts", "task.translation.test_target", {OptionCondition::anything}, true},
          {"task.translation.validation_target", "data.validation_path", {OptionCondition::anything}},
          {"task.translation.test_target", "data.test_path", {OptionCondition::anything}}}},
    make_translation};

} // namespace heed
