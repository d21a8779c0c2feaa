// heed evaluate: what a trained run does on a split. The only way to look at the test split.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/trained_run.hpp"

#include <fmt/format.h>
#include <ostream>

namespace heed {

namespace {

struct EvaluateArguments {
  std::string run, out = "runs", split = "validation";
};

int evaluate(const EvaluateArguments& arguments, Console& console) {
  const TrainedRun run = trained_run(arguments.out, arguments.run, console);
  const Split split = arguments.split == "test"         ? Split::test
                      : arguments.split == "validation" ? Split::validation
                                                        : Split::train;
  const Metrics metrics = engine(run.config).evaluate(run.config, *run.task, run.checkpoint, split);
  console.out << fmt::format("run {} at step {}, the whole {} split\n", run.id, metrics.step, arguments.split);
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
      "RUN is a path to a run's folder, or a unique beginning of its ID. Nothing else looks at the test split: choose by the\n"
      "validation split, and look at the test split once, at the end. Nothing is kept." +
          std::string(exit_statuses),
      [](CLI::App& command, EvaluateArguments& arguments) {
        command.add_option("RUN", arguments.run, "which run")->required()->type_name("");
        command.add_option("--split", arguments.split, "train, validation or test [validation]")
            ->check(CLI::IsMember({"train", "validation", "test"}).description(""))
            ->type_name("SPLIT");
        command.add_option("--out", arguments.out, "the folder in which RUN is looked for [runs]")->type_name("FOLDER");
      },
      evaluate);
}

} // namespace heed
