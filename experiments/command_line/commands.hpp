// Declares all commands. Each command is implemented in its own file in commands/ and registers itself here.
#pragma once

#include "experiments/command_line/command.hpp"
#include "experiments/command_line/console.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Where a command registers itself.
struct Commands {
  CLI::App& app;
  Console& console;
  std::function<int()> chosen; ///< called after the command line has been parsed; returns the exit status
};

void add_new(Commands& commands);
void add_run(Commands& commands);
void add_plan(Commands& commands);
void add_check(Commands& commands);
void add_show(Commands& commands);
void add_data(Commands& commands);
void add_status(Commands& commands);
void add_report(Commands& commands);
void add_compare(Commands& commands);
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
void add_completion(Commands& commands);
void add_slurm_task(Commands& commands); ///< hidden: executes the runs of one task of a Slurm job
void add_worker(Commands& commands);     ///< hidden: executes one run of a sweep in its own process

/// Adds a new command. @param help  the text below its options
Command new_command(Commands& commands, const std::string& name, const std::string& summary, const std::string& help);

/// Adds a command whose arguments have the type `Arguments`: `declare` binds them to options, and `act` receives them.
template <class Arguments>
Command add_command(Commands& commands, const std::string& name, const std::string& summary, const std::string& help,
                    void (*declare)(Command&, Arguments&), int (*act)(const Arguments&, Console&)) {
  Command command = new_command(commands, name, summary, help);
  auto arguments = std::make_shared<Arguments>();
  declare(command, *arguments);
  command.when_chosen([&commands, arguments, act] {
    commands.chosen = [&console = commands.console, arguments, act] { return act(*arguments, console); };
  });
  return command;
}

/// Adds CONFIG and the overrides, for commands that take them.
void add_config(Command& command, std::string& config, std::vector<std::string>& overrides);

/// Adds --average, for commands that examine trained weights.
void add_average(Command& command, std::int64_t& count);
/// OUT or --out OUT: the folder of all runs.
void add_output_folder(Command& command, std::string& out);
/// The option --notes of the commands that print a report.
void add_notes(Command& command, std::string& notes);
/// Throws heed::Refused if it is given for a format that is not printed.
void require_notes_of_terminal(const char* command, const std::string& notes, const std::string& format);

/// The exit statuses; every command's help ends with them.
inline constexpr std::string_view exit_statuses =
    "\nExit status: 0 done, 1 failed after it had started, 2 refused before any work.";

} // namespace heed
