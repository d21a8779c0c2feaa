// Task `translation`: from one text to another, line by line.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/text_rows.hpp"

#include <fmt/format.h>

namespace heed {

extern const TaskInfo task_translation;

namespace {

struct TranslationOptions {
  std::string target = "";
  bool shared_vocabulary = true;
};

const OptionTable<TranslationOptions>& translation_option_table() {
  static const auto table = option_table<TranslationOptions>(
      option("target", &TranslationOptions::target,
             "the file of the outputs, line by line with data.path, which then has the inputs")
          .default_means("none: data.path is a TSV with inputs in its first column and outputs in its second")
          .without_effect_on_results(),
      option("shared_vocabulary", &TranslationOptions::shared_vocabulary,
             "inputs and outputs are numbered by one vocabulary, from both together"));
  return table;
}

std::vector<TextRow> from_tsv(const std::string& bytes, const std::string& path) {
  std::vector<TextRow> rows;
  for (TableRow& row : read_tsv(bytes, path)) {
    if (row.cells.size() < 2)
      throw Refused(fmt::format("{}:{}: there is no tab; a line is an input, a tab and its output. If the outputs "
                                "stand in a file of their own, name it: task.translation.target=FILE",
                                path, row.line));
    rows.push_back({row.line, std::move(row.cells[0]), std::move(row.cells[1])});
  }
  return rows;
}

std::vector<TextRow> from_two_files(const std::string& inputs, const std::string& input_path,
                                    const std::string& outputs, const std::string& output_path) {
  std::vector<TableRow> from = read_lines(inputs, input_path), to = read_lines(outputs, output_path);
  if (from.size() != to.size())
    throw Refused(fmt::format("{} has {} lines and {} has {}; line n of one must be the translation of line n of the "
                              "other, so they must have as many",
                              input_path, from.size(), output_path, to.size()));
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < from.size(); ++i)
    rows.push_back({from[i].line, std::move(from[i].cells[0]), std::move(to[i].cells[0])});
  return rows;
}

/// Kinds of tokens whose vocabulary is the same whatever the text.
bool given(const Vocabulary& vocabulary, const DataOptions& data) {
  return !vocabulary.fingerprint().empty() || data.tokens == "bytes";
}

std::unique_ptr<Task> make_translation(const Config& config) {
  const TranslationOptions options = translation_option_table().read(config.task_options);
  const std::string& path = config.data.path;
  const std::string bytes = read_data_file("data", "path", path);
  Listing task;
  task.name = "translation";
  task.fingerprint = fingerprint_of(bytes);
  std::vector<TextRow> rows;
  if (options.target.empty()) {
    rows = from_tsv(bytes, path);
  } else {
    const std::string outputs = read_data_file("task.translation", "target", options.target);
    task.fingerprint += " " + fingerprint_of(outputs);
    rows = from_two_files(bytes, path, outputs, options.target);
  }
  const SplitRows split = split_rows(config, rows);
  std::vector<std::string_view> inputs = split.training(&TextRow::input), outputs = split.training(&TextRow::output);
  if (options.shared_vocabulary) inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  task.input = make_vocabulary(config.data, inputs);
  task.output = options.shared_vocabulary || given(*task.input, config.data) ? task.input
                                                                             : make_vocabulary(config.data, outputs);
  task.fingerprint += " " + task.input->fingerprint();
  list_rows(config.data, split, path, true,
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
     .presets = {{"data.tokens", Value(std::string("words"))}}},
    make_translation};

} // namespace heed
