// heed evaluate: evaluates a trained run on a whole split. No other command evaluates the test split.
#include "experiments/actions/requests.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/actions/trained_run.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/data/csv.hpp"
#include "experiments/metrics/text/translation_scores.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace heed {

namespace {

struct EvaluateArguments {
  std::string run, out = "runs", split = "validation", write;
  std::int64_t average = 1;
  EvaluationRequest question;
  ResultOptions result;
};

/// Writes a table with the model's output for each example of the split. Returns the number of examples.
std::int64_t write_outputs(const TrainedRun& run, Split split, const std::string& path) {
  if (std::error_code error; std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    throw Refused(fmt::format("--write: '{}' exists already; remove it, or name another file", path));
  const TaskFormat format = task_format_of(run.config);
  const bool classes = gives_class(format);
  std::optional<NewFile> file; // none before the first example, so that a refusal leaves nothing
  std::int64_t count = 0;
  run.engine().outputs(run.config, *run.task, run.checkpoint, split, [&](const ExampleOutput& example) {
    if (!file)
      file.emplace(path).write(classes ? "input\treference\toutput\tprobability\n" : "input\treference\toutput\n");
    std::string line = tsv_cell(example.input) + "\t" + tsv_cell(example.reference) + "\t" + tsv_cell(example.output);
    if (example.probability) line += "\t" + csv_number(*example.probability);
    file->write(line + "\n");
    ++count;
  });
  if (file) file->finish();
  return count;
}

void print_metrics(const std::string& run, const EvaluateArguments& arguments, const MetricsRecord& metrics,
                   std::int64_t written, Console& console) {
  console.out << fmt::format("run {} at step {}, the whole {} split{}\n", run, metrics.step, arguments.split,
                             average_in_words(arguments.average));
  std::size_t widest = 24;
  for (const auto& [name, value] : metrics.values) widest = std::max(widest, name.size());
  for (const auto& [name, value] : metrics.values) console.out << fmt::format("  {:{}} {:.4f}\n", name, widest, value);
  if (written > 0) console.out << fmt::format("  {} written to {}\n", counted(written, "example"), arguments.write);
}

int evaluate(const EvaluateArguments& arguments, Console& console) {
  ResultOutput output("evaluate", arguments.result);
  TrainedRun run = trained_run(arguments.out, arguments.run, arguments.average, console);
  run.config = evaluated_config(run.config, arguments.question);
  const Split split = split_named(arguments.split);
  const std::int64_t written = arguments.write.empty() ? 0 : write_outputs(run, split, arguments.write);
  const MetricsRecord metrics = run.engine().evaluate(run.config, *run.task, run.checkpoint, split);
  const auto lost = std::ranges::find_if(metrics.values, [](const auto& of) { return !std::isfinite(of.second); });
  if (output.is("json")) {
    EvaluateResult result{.run = run.id, .split = arguments.split, .step = metrics.step, .average = arguments.average};
    for (const auto& [name, value] : metrics.values) result.metrics[name] = value;
    if (written > 0) result.outputs = arguments.write;
    output.write_result(result, console, lost == metrics.values.end() ? 0 : 1);
  } else {
    print_metrics(run.id, arguments, metrics, written, console);
  }
  if (lost == metrics.values.end()) return 0;
  console.out.flush();
  throw Failed(fmt::format("{} is not finite: for some of this data, the model's output is not finite", lost->first));
}

} // namespace

void add_evaluate(Commands& commands) {
  add_command<EvaluateArguments>(
      commands, "evaluate", "measure a trained run's loss and accuracy on a whole split",
      "Examples:\n"
      "  heed evaluate 3f2a\n"
      "  heed evaluate 3f2a --split test\n"
      "  heed evaluate 3f2a --split test --beam 4 --length-penalty 0.6 --average 5\n"
      "  heed evaluate 3f2a --lengths 64,128,256\n"
      "  heed evaluate 3f2a --split test --write outputs.tsv\n"
      "RUN is the path of a run's folder, or a unique beginning of its ID. No other command uses the test split: "
      "choose by\n"
      "the validation split, and evaluate on the test split once, at the end. The result is only printed. --write\n"
      "writes a line for each example to a new file. Its first line has the names of the columns: input, reference,\n"
      "output and, for a classifier, the probability of the output's class. Tabs, line ends and backslashes within "
      "them\n"
      "are \\t, \\n"
      ", \\r and \\\\.",
      [](Command& command, EvaluateArguments& arguments) {
        command.add("RUN", arguments.run, "which run").required();
        command.add("--split SPLIT", arguments.split, "train, validation or test [validation]")
            .one_of({"train", "validation", "test"});
        command
            .add("--beam", arguments.question.beam,
                 "beam width for also decoding the split (sequence-to-sequence); 1: greedy; 0: no decoding "
                 "[train.evaluate_beam]")
            .within(0, EvaluationRequest::most_beam);
        command
            .add("--length-penalty", arguments.question.length_penalty,
                 "alpha of the beam search's length penalty [train.evaluate_length_penalty]")
            .within(0.0, EvaluationRequest::most_length_penalty);
        command
            .add("--length-penalty-kind KIND", arguments.question.length_penalty_kind,
                 "base of the length penalty: gnmt: (5 + tokens) / 6; fairseq: tokens "
                 "[train.evaluate_length_penalty_kind]")
            .one_of({"gnmt", "fairseq"});
        command
            .add("--bleu-tokenization NAME", arguments.question.bleu_tokenization,
                 "13a, none, intl or char, as sacreBLEU names them [train.evaluate_bleu_tokenization]")
            .one_of(bleu_tokenizations());
        command
            .add(
                "--lengths LENGTHS", arguments.question.lengths,
                "also measure on sequences of these lengths, which the task generates: 64,128 [train.evaluate_lengths]")
            .within(1, EvaluationRequest::longest)
            .separated_by(',');
        command.add("--write FILE", arguments.write,
                    "write each example with the model's output to a new file, as TSV");
        add_average(command, arguments.average);
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
      },
      evaluate);
}

} // namespace heed
