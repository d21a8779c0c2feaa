// heed evaluate: what a trained run does on a split. The only way to look at the test split.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/trained_run.hpp"

#include <fmt/format.h>
#include <optional>
#include <ostream>

namespace heed {

namespace {

struct EvaluateArguments {
  std::string run, out = "runs", split = "validation";
  std::int64_t average = 1;
  std::optional<std::int64_t> beam;
  std::optional<double> length_penalty;
};

int evaluate(const EvaluateArguments& arguments, Console& console) {
  TrainedRun run = trained_run(arguments.out, arguments.run, arguments.average, console);
  TrainOptions& options = run.config.train;
  if (arguments.beam) options.evaluate_beam = *arguments.beam;
  if (arguments.length_penalty) options.evaluate_length_penalty = *arguments.length_penalty;
  else if (options.evaluate_beam < 2) options.evaluate_length_penalty = 0;
  const Split split = arguments.split == "test"         ? Split::test
                      : arguments.split == "validation" ? Split::validation
                                                        : Split::train;
  const Metrics metrics = engine(run.config).evaluate(run.config, *run.task, run.checkpoint, split);
  console.out << fmt::format("run {} at step {}, the whole {} split{}\n", run.id, metrics.step, arguments.split,
                             average_in_words(arguments.average));
  for (const auto& [name, value] : metrics.values) console.out << fmt::format("  {:24} {:.4f}\n", name, value);
  return 0;
}

} // namespace

void add_evaluate(Commands& commands) {
  add_command<EvaluateArguments>(
      commands, "evaluate", "a trained run's loss and accuracy on the whole of a split",
      "Examples:\n"
      "  heed evaluate 3f2a\n"
      "  heed evaluate 3f2a --split test\n"
      "  heed evaluate 3f2a --split test --beam 4 --length-penalty 0.6 --average 5\n"
      "RUN is a path to a run's folder, or a unique beginning of its ID. Nothing else looks at the test split: "
      "choose by the\n"
      "validation split, and look at the test split once, at the end. Nothing is kept." +
          std::string(exit_statuses),
      [](Command& command, EvaluateArguments& arguments) {
        command.add("RUN", arguments.run, "which run").required().value_name("");
        command.add("--split", arguments.split, "train, validation or test [validation]")
            .one_of({"train", "validation", "test"}).value_name("SPLIT");
        command.add("--beam", arguments.beam,
                    "also decode the split (sequence-to-sequence): 1: greedily; 0: not [train.evaluate_beam]")
            .within(0, 1024);
        command.add("--length-penalty", arguments.length_penalty, "that search's alpha [train.evaluate_length_penalty]")
            .within(0.0, 100.0);
        add_average(command, arguments.average);
        command.add("--out", arguments.out, "the folder in which RUN is looked for [runs]").value_name("FOLDER");
      },
      evaluate);
}

} // namespace heed
