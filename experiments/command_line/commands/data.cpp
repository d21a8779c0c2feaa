// heed data: shows the data that a configuration's task produces (splits, vocabulary, lengths, examples), without
// training.
#include "autograd/error.hpp"
#include "experiments/actions/data_result.hpp"
#include "experiments/actions/requests.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/csv.hpp"
#include "experiments/metrics/text/translation_scores.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/task_survey.hpp"
#include "experiments/tasks/vocabulary_text.hpp"

#include <fmt/ranges.h>

#include <array>
#include <optional>

namespace heed {

namespace {

struct DataArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::optional<std::int64_t> examples;
  std::optional<std::string> split;
  bool all = false, vocabulary = false;
  std::optional<std::int64_t> batches;
  ResultOptions result;
};

constexpr std::int64_t surveyed_sequences = 2000;
constexpr std::int64_t usual_examples = 3;
constexpr std::size_t commonest_shown = 12, text_width = 100;

/// Is the character invisible, or easily confused with a space? True for white space other than U+0020, control
/// characters and zero-width marks.
bool is_invisible(char32_t c) {
  return (c != U' ' && is_white_space(c)) || c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         c == 0xfeff;
}

/// The text on one line, with every invisible character escaped: \n, \t, \u00A0, or \xE9 for a byte that is not valid
/// UTF-8. The text is quoted if it is empty, or starts or ends with a space.
std::string on_one_line(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    while (i + length < text.size() && length < 4 && (static_cast<unsigned char>(text[i + length]) & 0xC0U) == 0x80U)
      ++length;
    const std::string_view character = std::string_view(text).substr(i, length);
    const std::u32string points = code_points(character);
    if (points.size() != 1 || (points[0] == U'\uFFFD' && character != "\uFFFD")) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[i]));
      length = 1;
    } else if (points[0] == U'\n') out += "\\n";
    else if (points[0] == U'\t') out += "\\t";
    else if (is_invisible(points[0])) out += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(points[0]));
    else out += character;
    i += length;
  }
  if (out.empty() || out.front() == ' ' || out.back() == ' ') out = "\"" + out + "\"";
  return cut_to(out, text_width);
}

void line(Console& console, const std::string& name, const std::string& text) {
  print(console.out, "  {:<11} {}\n", name, text);
}

std::string size_in_words(std::int64_t size) { return size < 0 ? "new for every step" : with_commas(size); }

std::string vocabulary_in_words(const TaskSurvey& s) {
  if (s.format == TaskFormat::image_classification)
    return fmt::format("{} classes; images of {} x {} pixels, {} channel{}", s.sizes.classes, s.sizes.image.height,
                       s.sizes.image.width, s.sizes.image.channels, plural(s.sizes.image.channels));
  if (s.format == TaskFormat::classification)
    return fmt::format("{} tokens; {} classes", with_commas(s.sizes.vocabulary), s.sizes.classes);
  if (s.sizes.shared_vocabulary)
    return fmt::format("{} tokens{}", with_commas(s.sizes.vocabulary),
                       s.sizes.begin >= 0 ? ", with those that begin and end an output" : "");
  return fmt::format("{} tokens of input; {} of output, with those that begin and end one",
                     with_commas(s.sizes.vocabulary), with_commas(s.sizes.classes));
}

std::string lengths_in_words(const TaskSurvey& s) {
  const auto range = [](const LengthSurvey& l) {
    if (l.shortest == l.longest) return fmt::format("{}", l.longest);
    return fmt::format("{} to {}, the median {}", l.shortest, l.longest, l.median);
  };
  std::string text = "sequences of " + range(s.inputs) + " tokens";
  if (s.format == TaskFormat::sequence_to_sequence)
    text = fmt::format("inputs of {} tokens; outputs of {}", range(s.inputs), range(s.outputs));
  return text + fmt::format("; {:.0f} % of a batch is not padding", 100 * s.filled);
}

/// "training a.txt; validation b.txt; test c.txt", or one file name if all splits come from the same file.
std::string files_in_words(const Task::Facts& facts) {
  constexpr std::array<const char*, 3> names = {"training", "validation", "test"};
  std::string text;
  bool one = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (facts.sizes[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", names[i], facts.files[i]);
    one = one && facts.files[i] == facts.files[0];
  }
  return one ? facts.files[0] : text;
}

/// The sequences that were counted: "the 360 training examples", "2,000 of 5,000 training examples", or "2,000 training
/// sequences" of a text or of generated data.
std::string sequences_in_words(const TaskSurvey& s) {
  if (!s.listed) return fmt::format("{} training sequences", with_commas(s.sequences));
  if (s.sequences == *s.listed) return fmt::format("the {} training {}", with_commas(s.sequences), s.facts.unit);
  return fmt::format("{} of {} training {}", with_commas(s.sequences), with_commas(*s.listed), s.facts.unit);
}

/// "5.6 over the 360 training examples: 63 steps of 32 sequences": how often training passes over data of this size.
std::string passes_in_words(const TaskSurvey& s, std::int64_t steps) {
  const double sequences = static_cast<double>(steps) * s.sequences_per_step;
  const double of_a_sequence = s.listed ? 1
                                        : static_cast<double>(s.inputs.longest); // windows of a text are equally long
  const std::string length = s.listed ? "" : fmt::format(" of {} {}", s.inputs.longest, s.facts.unit);
  const auto size = static_cast<double>(s.facts.sizes[0]);
  return fmt::format("{:.3g} over the {} training {}: {} steps of {:.4g} sequences{}", sequences * of_a_sequence / size,
                     with_commas(s.facts.sizes[0]), s.facts.unit, with_commas(steps), s.sequences_per_step, length);
}

void write_all(const Task& task, TaskFormat format, Split split, Console& console) {
  std::int64_t number = 0;
  each_example(task, format, split, std::nullopt, [&](const ExampleText& example) {
    const bool image = format == TaskFormat::image_classification;
    print(console.data, "{}\t{}\n", image ? fmt::format("row {}", number) : tsv_cell(example.input),
          tsv_cell(example.output));
    ++number;
  });
}

/// The tokens separated by spaces: "3 1 4".
std::string numbers(const std::vector<std::int32_t>& tokens) { return fmt::format("{}", fmt::join(tokens, " ")); }

void write_batches(const Task& task, TaskFormat format, const Config& config, std::int64_t batches, Console& console) {
  print(console.data, "step\trow\ttokens\toutputs\ttargets\tinput\toutput\n");
  each_training_sequence(task, format, config.order_seed(), config.train.batch, batches,
                         [&](const TrainingSequence& s) {
                           print(console.data, "{}\t{}\t{}\t{}\t{}\t{}\t{}\n", s.step, s.sequence, numbers(s.tokens),
                                 numbers(s.outputs), numbers(s.targets), tsv_cell(s.text.input),
                                 tsv_cell(s.text.output));
                         });
}

/// The task; errors say the places of the options that they name.
std::unique_ptr<Task> task_of(const Config& config, const Settings& settings) {
  try {
    return make_task(config);
  } catch (const Refused& error) {
    throw Refused(with_places(error.what(), config, settings));
  }
}

int data(const DataArguments& arguments, Console& console) {
  ResultOutput output("data", arguments.result);
  if (output.is("json") && (arguments.batches || arguments.all || arguments.vocabulary))
    throw Refused("data: --batches, --all and --vocabulary have a format of their own; leave out --format and --json");
  if (arguments.batches && (arguments.all || arguments.examples || arguments.split))
    throw Refused("--batches writes only the sequences of training steps: leave out --all, --examples and --split");
  if (arguments.vocabulary && (arguments.batches || arguments.all || arguments.examples || arguments.split))
    throw Refused("--vocabulary writes only the tokens: leave out --batches, --all, --examples and --split");
  if (arguments.all && !arguments.split)
    throw Refused("--all writes all examples of one split: name it with --split train, validation or test");
  if (arguments.all && arguments.examples)
    throw Refused("--examples does nothing with --all, which writes every example; leave one of them out");
  const Settings settings = load_settings(arguments.config, arguments.overrides);
  const Config config = settings.resolve();
  const std::unique_ptr<Task> task = task_of(config, settings);
  const TaskFormat format = task_format_of(config);
  if (const std::string why = task->refuses(format); !why.empty())
    throw Refused(fmt::format("[model] kind = \"{}\" does not go with [task] kind = \"{}\": {}", config.model.kind,
                              config.task.kind, why));
  if (arguments.vocabulary) {
    if (format == TaskFormat::image_classification) throw Refused("--vocabulary: images have no vocabulary");
    console.data << vocabulary_json(*task, format);
    return 0;
  }
  if (arguments.batches) {
    write_batches(*task, format, config, *arguments.batches, console);
    return 0;
  }
  const Split split = split_named(arguments.split.value_or("train"));
  if (arguments.all) {
    write_all(*task, format, split, console);
    return 0;
  }
  TaskSurvey s = survey_task(*task, format, config.order_seed(), config.train.batch, surveyed_sequences,
                             arguments.examples.value_or(usual_examples), commonest_shown);
  if (split != Split::train) {
    s.examples.clear();
    each_example(*task, format, split, arguments.examples.value_or(usual_examples),
                 [&](const ExampleText& example) { s.examples.push_back(example); });
  }
  if (output.is("json")) {
    output.write_result(data_result(config, *task, s), console);
    return 0;
  }
  print(console.out, "{}: {}\n", console.out_style.bold(config.task.kind), task_info(config.task.kind).about.summary);
  line(console, "seen as", view_in_words(format));
  line(console, s.facts.unit,
       fmt::format("training {}; validation {}; test {}", size_in_words(s.facts.sizes[0]),
                   size_in_words(s.facts.sizes[1]), size_in_words(s.facts.sizes[2])));
  if (s.facts.sizes[0] > 0 && config.train.steps > 0) line(console, "passes", passes_in_words(s, config.train.steps));
  if (!s.facts.files[0].empty()) line(console, "files", files_in_words(s.facts));
  line(console, "vocabulary", vocabulary_in_words(s));
  if (format != TaskFormat::image_classification) line(console, "lengths", lengths_in_words(s));
  const std::string commonest = joined(s.commonest, ", ", [](const auto& token) {
    return fmt::format("{} {}", on_one_line(token.first), with_commas(token.second));
  });
  line(console, "commonest",
       fmt::format("{} (of {} in {})", commonest, with_commas(s.different), sequences_in_words(s)));
  const Task::Chance chance = task->chance(format);
  line(console, "guessing", fmt::format("{:.1f} % right: {}", 100 * chance.accuracy, chance.how));
  if (chance.sequence && chance.sequence->value != chance.accuracy)
    line(console, "",
         fmt::format("{:.3g} % of sequences all right: {}", 100 * chance.sequence->value, chance.sequence->how));
  if (chance.loss) line(console, "", fmt::format("a loss of {:.4g} nats: {}", chance.loss->value, chance.loss->how));
  for (const Task::NamedSet& set : task->sets()) {
    const Task::Facts facts = set.task->facts();
    line(console, "set", fmt::format("{}: {} of {}", set.name, size_in_words(facts.sizes[1]), facts.files[1]));
    for (const std::string& note : facts.notes)
      if (std::ranges::find(s.facts.notes, note) == s.facts.notes.end()) line(console, "note", note);
  }
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
      commands, "data", "show the data of a config: splits, vocabulary, lengths, examples; trains nothing",
      "Examples:\n"
      "  heed data configs/quickstart.toml\n"
      "  heed data configs/quickstart.toml data.tokens=words data.min_count=2\n"
      "  heed data configs/quickstart.toml --examples 10\n"
      "  heed data configs/quickstart.toml --split validation --all > validation.tsv\n"
      "  heed data configs/quickstart.toml --batches 100 > batches.tsv\n"
      "  heed data runs/3f2a8c11d0b7e644/config.toml --vocabulary > vocabulary.json\n"
      "For a sweep, it shows the reference's data. Counts and lengths come from the first examples of training.\n"
      "--all writes only a line for each example: the input, a tab, and the target output; for images, their number\n"
      "in place of the input. Tabs, line ends and backslashes within them are \\t, \\n"
      ", \\r and \\\\.\n"
      "--batches writes a line for each sequence of the first training steps, as the config's seed draws them. The\n"
      "first line has the names of the columns: step and row, from 0; tokens, as numbers; outputs, which a decoder\n"
      "reads if the task has inputs and outputs; targets, for each token or output (-1: none), or the class; input\n"
      "and output, as text.\n"
      "--vocabulary writes lists of texts, in which a token's number is its index: tokens, which the model reads;\n"
      "output_tokens, if outputs have their own vocabulary; and classes.",
      [](Command& command, DataArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add("--examples", arguments.examples, "number of examples to show [3]").within(0, 1000);
        command.add("--split SPLIT", arguments.split, "the split of the examples: train, validation or test [train]")
            .one_of({"train", "validation", "test"});
        command.add_flag("--all", arguments.all, "write only the examples of the split, all of them, as TSV");
        command
            .add("--batches STEPS", arguments.batches, "write only the sequences of the first N training steps, as TSV")
            .within(1, 1'000'000'000);
        command.add_flag("--vocabulary", arguments.vocabulary, "write only all tokens, as JSON");
        add_result_options(command, arguments.result, {"terminal", "json"});
      },
      data);
}

} // namespace heed
