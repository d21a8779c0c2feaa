// Declares all commands, and how a command declares its arguments and binds them to variables. Each command is
// implemented in its own file in commands/. CLI11 parses the arguments. Its header takes long to compile, so only
// command_line.cpp includes it and defines the functions of arguments.
#pragma once

#include "experiments/command_line/console.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace heed {

/// One option or positional argument of a command; the chained calls set its properties.
class Argument {
public:
  explicit Argument(CLI::Option* option, bool has_placeholder = true)
      : option_(option), has_placeholder_(has_placeholder) {}

  Argument required();
  Argument description(const std::string& text);
  /// Only these words are accepted.
  Argument one_of(const std::vector<std::string>& words);
  /// Only numbers in this range are accepted. The placeholder is N, unless there is another.
  Argument within(std::integral auto low, std::integral auto high) { return within_integers(low, high); }
  Argument within(double low, double high);
  /// May be given several times with one value each; all values are stored.
  Argument repeatable();
  /// One argument contains several values, separated by this character.
  Argument separated_by(char character);
  /// The two arguments cannot be given together.
  Argument excludes(Argument other);

private:
  Argument within_integers(std::int64_t low, std::int64_t high);

  CLI::Option* option_;
  bool has_placeholder_;
};

/// A command that is being declared.
class Command {
public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// Binds `value` to an option ("--out FOLDER": its name and the placeholder of its value in the help) or, without
  /// dashes, to a positional argument ("RUN"). `value` must outlive the parsing of the command line. It is unchanged if
  /// the argument is not given. Values are strings, numbers, std::optional of these (empty if the argument is not
  /// given), and lists of these: the types for which command_line.cpp instantiates this template.
  template <class Value> Argument add(const std::string& name, Value& value, const std::string& meaning);
  /// A flag without a value: `value` is true if it is given.
  Argument add_flag(const std::string& name, bool& value, const std::string& meaning);

  /// An argument that was added before.
  Argument argument(const std::string& name);
  /// Hides the command in the list of commands.
  void hide();
  /// `act` is called after the command line has been parsed, if it names this command.
  void when_chosen(std::function<void()> act);

private:
  CLI::App* app_;
};

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
void add_schema(Commands& commands);
void add_completion(Commands& commands);
void add_slurm_task(Commands& commands); ///< hidden: executes the runs of one task of a Slurm job
void add_worker(Commands& commands);     ///< hidden: executes one run of a sweep in its own process

/// Adds a new command. @param help  the text below its options, to which the exit statuses are added; empty: none
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

} // namespace heed
