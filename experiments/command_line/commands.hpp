// The commands. Each adds itself to the command line, and has a file of its own in commands/.
#pragma once

#include "experiments/command_line/command.hpp"
#include "experiments/command_line/console.hpp"

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
  std::function<int()> chosen; ///< what to do, once the command line has been read; returns the exit status
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
void add_task(Commands& commands);   ///< hidden: the runs of one task of a cluster's queue
void add_worker(Commands& commands); ///< hidden: one run of a sweep, in a process of its own

/// A new command in the list. @param help  what stands below its options
Command new_command(Commands& commands, const std::string& name, const std::string& summary, const std::string& help);

/// A command with arguments of type `Arguments`, which `declare` binds to options, and which `act` is given.
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

/// CONFIG and the overrides, which several commands take.
void add_config(Command& command, std::string& config, std::vector<std::string>& overrides);

/// --average, of commands that look at what a run learned.
void add_average(Command& command, std::int64_t& count);

/// The exit statuses, as each command's help ends.
inline constexpr std::string_view exit_statuses =
    "\nExit status: 0 done, 1 failed after it had started, 2 refused before any work.";

} // namespace heed
