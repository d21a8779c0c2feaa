// Task `labelled_text`: classify texts from a table with a column of texts and a column of labels.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/cached_dataset.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/text_examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace heed {

extern const TaskInfo task_labelled_text;

namespace {

struct LabelledTextOptions {
  std::string format = "csv";
  bool header = true;
  std::string text = "text";
  std::string label = "label";
};

const OptionTable<LabelledTextOptions>& labelled_text_option_table() {
  using O = LabelledTextOptions;
  static const auto table = option_table<O>(
      option("format", &O::format,
             "how cells are separated: csv by commas, with quotes if needed (RFC 4180); tsv by tabs, without quotes")
          .one_of({"csv", "tsv"}),
      option("header", &O::header, "the first row names the columns"),
      option("text", &O::text, "the column of the texts: its name, or its number from 1 where there is no header"),
      option("label", &O::label, "the column of the labels: its name, or its number from 1 where there is no header"));
  return table;
}

/// The index of a column. `first` is the first row of the table; if there is a header, it has the column names.
std::size_t find_column(const std::string& option, const std::string& column, bool header, const TableRow& first,
                        const std::string& path) {
  if (header) {
    const auto found = std::ranges::find(first.cells, column);
    if (std::ranges::count(first.cells, column) > 1)
      throw Refused(fmt::format("{}:{}: {} columns have the name \"{}\"; give each a different name", path, first.line,
                                std::ranges::count(first.cells, column), column));
    if (found != first.cells.end()) return static_cast<std::size_t>(found - first.cells.begin());
    const std::string near = did_you_mean(column, first.cells);
    throw Refused(fmt::format("{}:{}: there is no column \"{}\"{} columns are {}. Name one: "
                              "task.labelled_text.{}=COLUMN; if the first row is no header, "
                              "task.labelled_text.header=false; if tabs separate the cells, "
                              "task.labelled_text.format=tsv",
                              path, first.line, column, near.empty() ? "; the" : near + " The",
                              fmt::join(first.cells, ", "), option));
  }
  const auto number = number_of<std::size_t>(column);
  if (!number || *number < 1 || *number > first.cells.size())
    throw Refused(fmt::format("[task.labelled_text] {} = \"{}\" is not a column of {}: without a header, a column is a "
                              "number from 1 to {}",
                              option, column, path, first.cells.size()));
  return *number - 1;
}

std::vector<TextExample> examples_of(const std::vector<TableRow>& table, const LabelledTextOptions& options,
                                     const std::string& path) {
  if (table.empty()) return {};
  const std::size_t text = find_column("text", options.text, options.header, table.front(), path);
  const std::size_t label = find_column("label", options.label, options.header, table.front(), path);
  if (text == label)
    throw Refused(fmt::format("[task.labelled_text] text and label are the same column, \"{}\"; name two",
                              options.text));
  const std::size_t columns = table.front().cells.size();
  std::vector<TextExample> examples;
  for (std::size_t i = options.header ? 1 : 0; i < table.size(); ++i) {
    const TableRow& row = table[i];
    if (row.cells.size() != columns)
      throw Refused(fmt::format("{}:{}: {} cells, but the first row has {}; all rows need the same number (put a cell "
                                "that contains a separator in quotes, and choose the right format)",
                                path, row.line, row.cells.size(), columns));
    examples.push_back({row.line, row.cells[text], row.cells[label]});
  }
  return examples;
}

/// The accuracy on the validation split of always predicting the most frequent training label.
Task::Chance commonest_label(const Dataset& task) {
  std::vector<std::int64_t> seen(task.labels.size());
  for (std::int64_t i = 0; i < task.examples[0].size(); ++i)
    ++seen[static_cast<std::size_t>(task.examples[0].output(i)[0])];
  const auto commonest = static_cast<std::int32_t>(std::ranges::max_element(seen) - seen.begin());
  std::vector<std::int64_t> validation(seen.size());
  for (std::int64_t i = 0; i < task.examples[1].size(); ++i)
    ++validation[static_cast<std::size_t>(task.examples[1].output(i)[0])];
  const std::int64_t hits = validation[static_cast<std::size_t>(commonest)];
  return {static_cast<double>(hits) / static_cast<double>(std::max<std::int64_t>(task.examples[1].size(), 1)),
          fmt::format("always \"{}\", the commonest label of the training split",
                      task.labels[static_cast<std::size_t>(commonest)]),
          std::nullopt, loss_by_frequencies(seen, validation, "labels")};
}

/// Adds a note on labels that no training example has, because a model can't learn them.
void note_unseen_labels(const SplitExamples& examples, Dataset& task) {
  std::set<std::string_view> known;
  for (const TextExample* example : examples[Split::train]) known.insert(example->output);
  std::int64_t count = 0;
  const TextExample* first = nullptr;
  for (const Split split : {Split::validation, Split::test})
    for (const TextExample* example : examples[split]) {
      if (known.contains(example->output)) continue;
      if (!first) first = example;
      ++count;
    }
  if (count > 0)
    task.notes.push_back(
        fmt::format("{} example{} of validation and test {} a label that training lacks (\"{}\", for one)", count,
                    plural(count), count == 1 ? "has" : "have", first->output));
}

Dataset list_labelled_text(const Config& config) {
  const LabelledTextOptions options = labelled_text_option_table().read(config.task_options);
  const auto read_table = options.format == "csv" ? read_csv : read_tsv;
  const ExampleFiles files = read_example_files(config, [&](const std::string& option, const std::string& path,
                                                            Split split, ExampleFiles& to) {
    const std::string bytes = read_data_file("data", option, path);
    to.examples[static_cast<std::size_t>(split)] = examples_of(to.keep(read_table(bytes, path)), options, path);
    return fingerprint_of(bytes);
  });
  Dataset task;
  task.name = "labelled_text";
  task.files = files.described();
  std::map<std::string_view, std::int32_t> label_of;
  for (const auto& examples : files.examples)
    for (const TextExample& example : examples) label_of.emplace(example.output, 0);
  for (auto& [label, number] : label_of) {
    number = static_cast<std::int32_t>(task.labels.size());
    task.labels.emplace_back(label);
  }
  for (const TextExample& example : files.of_set)
    if (!label_of.contains(example.output))
      throw Refused(
          fmt::format("{}:{}: no example of data.path has the label \"{}\"; a further validation set has the same "
                      "labels",
                      config.of_set, example.line, example.output));
  if (task.labels.size() < 2)
    throw Refused(fmt::format("{}: every example has the label \"{}\"; a classifier needs two labels at least",
                              config.data.path, task.labels.empty() ? "" : task.labels.front()));
  const SplitExamples split = split_examples(config, files);
  task.input = make_vocabulary(config.data, split.training(&TextExample::input));
  task.fingerprint = files.fingerprint + " " + task.input->fingerprint();
  list_examples(
      config.data, split, files, false,
      [&](const TextExample& example, std::vector<std::int32_t>& to) { to.push_back(label_of.at(example.output)); },
      task);
  note_unseen_labels(split, task);
  task.chance = commonest_label(task);
  return task;
}

std::unique_ptr<Task> make_labelled_text(const Config& config) {
  return listed_task(config, cached_dataset(config, named_files(config), [&] { return list_labelled_text(config); }));
}

} // namespace

const TaskInfo task_labelled_text = {
    {.name = "labelled_text",
     .summary = "the label of each text in a table (CSV or TSV) with a column of texts and one of labels",
     .paper = "as in Yang et al. 2016, Hierarchical Attention Networks for Document Classification, NAACL-HLT 2016",
     .cost = "memory: the file's texts; sequences are as long as the texts, up to data.max_length",
     .options = labelled_text_option_table().options(),
     .presets = {{"data.tokens", Value(std::string("words"))}},
     .disables = {"task.validation", "task.test"},
     .needs = {"data.path"},
     .uses = options_of_text_examples(),
     .conditions = {seed_of_splits()}},
    make_labelled_text};

} // namespace heed
