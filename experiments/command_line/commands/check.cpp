// heed check: checks a configuration, its data and the model of every arm, without running anything.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/preparation.hpp"
#include "experiments/command_line/print.hpp"

namespace heed {

namespace {

struct CheckArguments {
  std::string config;
  std::vector<std::string> overrides;
};

int check(const CheckArguments& arguments, Console& console) {
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks);
  check_sense(prepared, {}, console);
  print(console.out, "{}: fine; {}, compared by {}\n", arguments.config, size_in_words(prepared.plan),
        prepared.metric.name);
  return 0;
}

} // namespace

void add_check(Commands& commands) {
  add_command<CheckArguments>(
      commands, "check", "check a config, its data and every arm's model; trains nothing",
      "Examples:\n"
      "  heed check configs/quickstart.toml\n"
      "  heed check my.toml attention.score=additive\n"
      "Errors name file:line:column, what was found, what is allowed and the nearest name." +
          std::string(exit_statuses),
      [](Command& command, CheckArguments& arguments) { add_config(command, arguments.config, arguments.overrides); },
      check);
}

} // namespace heed
