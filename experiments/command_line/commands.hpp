// The commands. Each adds itself to the command line, and has a file of its own in commands/.
#pragma once

#include "experiments/command_line/console.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What a command adds itself to.
struct Commands {
  CLI::App& app;
  Console& console;
  std::function<int()> chosen;         ///< what to do, once the command line has been read; returns the exit status
};

void add_run(Commands& commands);
void add_plan(Commands& commands);
void add_check(Commands& commands);
void add_show(Commands& commands);
void add_data(Commands& commands);
void add_status(Commands& commands);
void add_report(Commands& commands);
void add_runs(Commands& commands);
void add_diff(Commands& commands);
void add_rerun(Commands& commands);
void add_export(Commands& commands);
void add_generate(Commands& commands);
void add_evaluate(Commands& commands);
void add_inspect(Commands& commands);
void add_attend(Commands& commands);
void add_variants(Commands& commands);
void add_options(Commands& commands);
void add_worker(Commands& commands);   ///< hidden: one run of a sweep, in a process of its own

/// A command with arguments of type `Arguments`, which `declare` binds to options, and which `act` is given.
template <class Arguments>
CLI::App* add_command(Commands& commands, const std::string& name, const std::string& summary, const std::string& help,
                      void (*declare)(CLI::App&, Arguments&), int (*act)(const Arguments&, Console&)) {
  CLI::App* command = commands.app.add_subcommand(name, summary);
  command->group("Commands")->footer(help);
  auto arguments = std::make_shared<Arguments>();
  declare(*command, *arguments);
  command->callback([&commands, arguments, act] {
    commands.chosen = [&console = commands.console, arguments, act] { return act(*arguments, console); };
  });
  return command;
}

/// CONFIG and the overrides, which several commands take.
inline void add_config(CLI::App& command, std::string& config, std::vector<std::string>& overrides) {
  command.add_option("CONFIG", config, "the TOML file")->required()->type_name("");
  command.add_option("OVERRIDES", overrides, "options in place of the file's: a.b=value ...")->type_name("");
}

/// An option for a number, or several, from `low` to `high`; `value` may be an optional one.
template <class Value, class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Value& value, const std::string& meaning,
                        Number low, Number high) {
  return command.add_option(name, value, meaning)->check(CLI::Range(low, high).description(""))->type_name("N");
}

/// --average, of commands that look at what a run learned.
inline void add_average(CLI::App& command, std::int64_t& count) {
  add_number(command, "--average", count, "the average of the newest so many checkpoints' weights [1]", std::int64_t{1},
             std::int64_t{1} << 20);
}

/// The exit statuses, as each command's help ends.
inline constexpr std::string_view exit_statuses =
    "\nExit status: 0 done, 1 failed after it had started, 2 refused before any work.";

} // namespace heed
