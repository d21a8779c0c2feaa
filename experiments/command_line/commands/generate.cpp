// heed generate: text from a trained run.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/trained_run.hpp"

#include <ostream>

namespace heed {

namespace {

struct GenerateArguments {
  std::string run, out = "runs";
  Sampling sampling;
};

int generate(const GenerateArguments& arguments, Console& console) {
  const TrainedRun run = trained_run(arguments.out, arguments.run, console);
  Sampling sampling = arguments.sampling;
  sampling.write = [&](std::string_view text) {
    console.out << text;
    console.out.flush();
  };
  engine(run.config).generate(run.config, *run.task, run.checkpoint, sampling);
  console.out << "\n";
  return 0;
}

} // namespace

void add_generate(Commands& commands) {
  add_command<GenerateArguments>(
      commands, "generate", "text from a trained decoder",
      "Examples:\n"
      "  heed generate 3f2a --prompt \"ROMEO:\"\n"
      "  heed generate runs/3f2a8c11d0b7e644 --prompt \"ROMEO:\" --tokens 1000 --temperature 0.8 --top-k 20\n"
      "RUN is a path to a run's folder, or a unique beginning of its ID. The same seed gives the same text." +
          std::string(exit_statuses),
      [](CLI::App& command, GenerateArguments& arguments) {
        Sampling& s = arguments.sampling;
        constexpr std::int64_t many = std::int64_t{1} << 40;
        command.add_option("RUN", arguments.run, "which run")->required()->type_name("");
        command.add_option("--prompt", s.prompt, "the text to go on from")->type_name("TEXT");
        add_number(command, "--tokens", s.tokens, "how many to generate [500]", std::int64_t{1}, many);
        add_number(command, "--temperature", s.temperature, "0: always the most probable token [1]", 0.0, 1e6);
        add_number(command, "--top-k", s.top_k, "only among the k most probable; 0: all [0]", std::int64_t{0}, many);
        command.add_option("--seed", s.seed, "of the random choices [0]")->type_name("N");
        command.add_option("--out", arguments.out, "the folder in which RUN is looked for [runs]")->type_name("FOLDER");
      },
      generate);
}

} // namespace heed
