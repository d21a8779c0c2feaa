// heed data: what a configuration's task gives, before anything trains.
#include "autograd/error.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/preparation.hpp"
#include "experiments/config/config.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/task_survey.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace heed {

namespace {

struct DataArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::int64_t examples = 3;
};

constexpr std::int64_t surveyed_rows = 2000;
constexpr std::size_t commonest_shown = 12, text_width = 100;

/// On one line: line ends and tabs as \n and \t.
std::string on_one_line(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else out += c;
  return cut_to(out, text_width);
}

void line(Console& console, const std::string& name, const std::string& text) {
  fmt::print(console.out, "  {:<11} {}\n", name, text);
}

std::string in_words(Form form) {
  switch (form) {
  case Form::language_model: return "rows of tokens, each predicted from those before it";
  case Form::sequence_to_sequence: return "pairs of an input and an output";
  case Form::classification: return "rows of tokens with a class";
  case Form::image_classification: return "images with a class";
  }
  return "";
}

std::string size_in_words(std::int64_t size) { return size < 0 ? "new for every step" : with_commas(size); }

std::string vocabulary_in_words(const TaskSurvey& s) {
  if (s.form == Form::image_classification)
    return fmt::format("{} classes; images of {} x {} pixels, {} channel{}", s.shape.classes, s.shape.image.height,
                       s.shape.image.width, s.shape.image.channels, s.shape.image.channels == 1 ? "" : "s");
  if (s.form == Form::classification)
    return fmt::format("{} tokens; {} classes", with_commas(s.shape.vocabulary), s.shape.classes);
  if (s.shape.shared_vocabulary)
    return fmt::format("{} tokens{}", with_commas(s.shape.vocabulary),
                       s.shape.begin >= 0 ? ", with those that begin and end an output" : "");
  return fmt::format("{} tokens of input; {} of output, with those that begin and end one",
                     with_commas(s.shape.vocabulary), with_commas(s.shape.classes));
}

std::string lengths_in_words(const TaskSurvey& s) {
  const auto range = [](const LengthSurvey& l) {
    if (l.shortest == l.longest) return fmt::format("{}", l.longest);
    return fmt::format("{} to {}, the median {}", l.shortest, l.longest, l.median);
  };
  std::string text = "rows of " + range(s.inputs) + " tokens";
  if (s.form == Form::sequence_to_sequence)
    text = fmt::format("inputs of {} tokens; outputs of {}", range(s.inputs), range(s.outputs));
  return text + fmt::format("; {:.0f} % of a batch is not padding", 100 * s.filled);
}

int data(const DataArguments& arguments, Console& console) {
  const Config config = load_settings(arguments.config, arguments.overrides).resolve();
  const std::unique_ptr<Task> task = make_task(config);
  const Form form = form_of(config);
  if (const std::string why = task->refuses(form); !why.empty())
    throw Refused(fmt::format("[model] kind = \"{}\" does not go with [task] kind = \"{}\": {}", config.model.kind,
                              config.task.kind, why));
  const TaskSurvey s = survey_task(*task, form, static_cast<std::uint64_t>(config.general.seed), config.train.batch,
                                   surveyed_rows, arguments.examples, commonest_shown);
  fmt::print(console.out, "{}: {}\n", console.out_style.bold(config.task.kind),
             task_info(config.task.kind).about.summary);
  line(console, "seen as", in_words(form));
  line(console, s.facts.unit, fmt::format("training {}; validation {}; test {}", size_in_words(s.facts.sizes[0]),
                                          size_in_words(s.facts.sizes[1]), size_in_words(s.facts.sizes[2])));
  line(console, "vocabulary", vocabulary_in_words(s));
  if (form != Form::image_classification) line(console, "lengths", lengths_in_words(s));
  std::string commonest;
  for (const auto& [text, count] : s.commonest)
    commonest += fmt::format("{}{} {}", commonest.empty() ? "" : ", ", text.empty() ? "\"\"" : on_one_line(text),
                             with_commas(count));
  line(console, "commonest", fmt::format("{} (of {} in {} training rows)", commonest, with_commas(s.different),
                                         with_commas(s.rows)));
  const Task::Chance chance = task->chance(form);
  line(console, "guessing", fmt::format("{:.1f} % right: {}", 100 * chance.accuracy, chance.how));
  for (const std::string& note : s.facts.notes) line(console, "note", note);
  for (const ExampleText& example : s.examples) {
    console.out << "\n";
    if (!example.input.empty()) line(console, "input", on_one_line(example.input));
    line(console, "output", on_one_line(example.output));
  }
  return 0;
}

} // namespace

void add_data(Commands& commands) {
  add_command<DataArguments>(
      commands, "data", "what a config's task gives: splits, vocabulary, lengths, examples; run nothing",
      "Examples:\n"
      "  heed data configs/quickstart.toml\n"
      "  heed data configs/quickstart.toml data.tokens=words data.min_count=2\n"
      "  heed data configs/quickstart.toml --examples 10\n"
      "Of a sweep, it shows the reference. Counts and lengths are of the first rows that training would see." +
          std::string(exit_statuses),
      [](Command& command, DataArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add("--examples", arguments.examples, "how many examples to show [3]").within(0, 1000);
      },
      data);
}

} // namespace heed
