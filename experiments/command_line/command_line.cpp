#include "experiments/command_line/command_line.hpp"

#include "autograd/error.hpp"
#include "experiments/actions/build.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/completion.hpp"
#include "experiments/command_line/process_group.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/config/values.hpp"
#include "experiments/engines/mpi.hpp"
#include "experiments/index/database.hpp"
#include "experiments/report/indented_json.hpp"
#include "experiments/system/failure.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace heed {

namespace {

/// The exit statuses; the help of every command that users call ends with them.
constexpr const char* exit_statuses =
    "\nExit status: 0 done, 1 failed after it had started, 2 refused before any work, 130 stopped by Ctrl-C.";

/// Names of commands: those that the help shows, or all.
std::vector<std::string> command_names(const CLI::App& app, bool hidden_too = false) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       app.get_subcommands([&](const CLI::App* a) { return hidden_too || !a->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The name of the validator of `Argument::one_of`: this word, and each allowed word on a line of its own.
constexpr std::string_view one_of_words = "one of";

/// The words that an option or argument allows; empty if it allows more than fixed words.
std::vector<std::string> allowed_words(CLI::Option& option) {
  try {
    for (int i = 0;; ++i)
      if (const std::string& name = option.get_validator(i)->get_name(); name.starts_with(one_of_words)) {
        std::vector<std::string> words = parts_of(name, '\n');
        words.erase(words.begin());
        return words;
      }
  } catch (const CLI::OptionNotFound&) { // there are no more validators
    return {};
  }
}

/// The commands that the help shows, and their arguments, for completion.
std::vector<CommandSyntax> syntax_of(CLI::App& app) {
  std::vector<CommandSyntax> out;
  for (CLI::App* command : app.get_subcommands([](CLI::App* a) { return !a->get_group().empty(); })) {
    out.push_back({command->get_name(), {}});
    for (CLI::Option* option : command->get_options()) {
      const std::string name = option->get_positional() ? option->get_name(true) : "--" + option->get_lnames().front();
      out.back().arguments.push_back({name, option->get_type_name(), allowed_words(*option),
                                      option->get_items_expected_max() > 0, option->get_expected_max() > 1});
    }
  }
  return out;
}

/// What may be meant by an option that the command does not have: what Heed calls it, an option of the config, or the
/// nearest option of the command.
std::string instead_of(const std::string& name, const CLI::App& command) {
  const std::vector<std::string> names = option_names(command);
  if (std::string near = did_you_mean(name, names); !near.empty()) return near;
  const bool has_config = command.get_option_no_throw("OVERRIDES") != nullptr;
  if (std::string hint = hint_for("--", name); !hint.empty()) {
    const std::size_t option = hint.find("--");
    const bool fits = option == std::string::npos
                          ? has_config
                          : is_one_of(hint.substr(option, hint.find(' ', option) - option), names);
    return fits ? hint : "";
  }
  if (!has_config) return "";
  std::string plain = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::ranges::replace(plain, '-', '_');
  const std::vector<std::string> keys = find_option(plain) ? std::vector{plain} : keys_named(plain);
  return keys.size() == 1 ? fmt::format("; options of the config are written without dashes: {}=...", keys.front())
                          : "";
}

/// Explains an error of CLI11 in helpful words.
std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.back();
  const std::string where = parsed.empty() ? "" : command.get_name() + ": ";
  const std::string help = parsed.empty() ? "heed --help" : fmt::format("heed {} --help", command.get_name());
  const std::string see = fmt::format("\n      {} lists what is available", help);
  for (const std::string& word : command.remaining()) {
    if (word == "--") continue;
    const std::string name = word.substr(0, word.find('='));
    if (name.starts_with('-'))
      return fmt::format("{}there is no option {}{}{}", where, name, instead_of(name, command), see);
    return fmt::format("{}unexpected argument \"{}\"{}", where, word, see);
  }
  if (error.get_name() == "RequiredError")
    for (const CLI::Option* option : command.get_options())
      if (option->get_required() && option->empty())
        return fmt::format("{}{} is required: {}{}", where, option->get_name(), option->get_description(), see);
  return fmt::format("{}{}{}", where, error.what(), see);
}

int show_help(const CLI::App& app, Console& console) {
  console.out << app.help();
  return 0;
}

int read_and_do(const std::vector<std::string>& arguments, Console& console) {
  CLI::App app{"Heed: attention ablations, from one config file to a report.", "heed"};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(0, 1);
  app.footer("A first look:\n"
             "  heed run configs/quickstart.toml\n"
             "  heed variants\n"
             "heed COMMAND --help explains a command. In a checkout, ./heed test runs the tests, ./heed bench the "
             "benchmarks,\n"
             "and ./heed style checks format and wording." +
             std::string(exit_statuses));
  app.get_formatter()->column_width(34);
  app.get_formatter()->label("OPTIONS", "options");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("REQUIRED", "");
  Commands commands{app, console, {}};
  for (auto* add :
       {add_new,     add_run,      add_plan,    add_check,  add_show,       add_data,       add_status,   add_report,
        add_compare, add_runs,     add_diff,    add_rerun,  add_export,     add_generate,   add_evaluate, add_inspect,
        add_attend,  add_variants, add_options, add_schema, add_completion, add_slurm_task, add_worker})
    add(commands);

  if (arguments.size() > 2 && arguments[0] == "complete" && arguments[1] == "--") {
    write_completions(complete({arguments.begin() + 2, arguments.end()}, syntax_of(app)), console.data);
    return 0;
  }
  if (arguments.empty()) {
    show_help(app, console);
    return 2;
  }
  const std::string& first = arguments.front();
  if (!first.starts_with('-') && !is_one_of(first, command_names(app, true))) {
    if (first.ends_with(".toml"))
      throw Refused(fmt::format("a file needs a command; to run it: {}", shell_words({"heed", "run", first})));
    if (first == "mcp")
      throw Refused("heed mcp, the server for coding agents, is in the Python package: pip install '.[mcp]' in the "
                    "checkout, then heed mcp in that environment");
    const std::vector<std::string> names = command_names(app);
    throw Refused(fmt::format("there is no command {}{}\n      commands: {}", first, did_you_mean(first, names),
                              fmt::join(names, ", ")));
  }
  if (processes_of_mpi() > 1 && !first.starts_with('-') && first != "run")
    throw Refused(fmt::format("heed {} can't use the {} processes that mpirun started; only heed run can", first,
                              processes_of_mpi()));
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return show_help(app, console);
  } catch (const CLI::CallForVersion&) {
    console.out << version_text() << "\n";
    return 0;
  } catch (const CLI::ParseError& error) {
    throw Refused(explain(error, app));
  }
  if (!commands.chosen) throw Refused("no command was given\n      heed --help lists the commands");
  return commands.chosen();
}

} // namespace

Argument Argument::required() { return option_->required(), *this; }
Argument Argument::description(const std::string& text) { return option_->description(text), *this; }

Argument Argument::one_of(const std::vector<std::string>& words) {
  const std::string name = fmt::format("{}\n{}", one_of_words, fmt::join(words, "\n"));
  return option_->check(CLI::IsMember(words).description(""), name), *this;
}

Argument Argument::within_integers(std::int64_t low, std::int64_t high) {
  option_->check(CLI::Range(low, high).description(""));
  return has_placeholder_ ? *this : Argument(option_->type_name("N"));
}

Argument Argument::within(double low, double high) {
  // CLI::Range accepts NaN, because NaN compares false with everything.
  const auto number = [](const std::string& text) -> std::string {
    const bool none = std::isnan(std::strtod(text.c_str(), nullptr));
    return none ? fmt::format("Value {} not a number", text) : "";
  };
  option_->check(CLI::Range(low, high).description(""))->check(number);
  return has_placeholder_ ? *this : Argument(option_->type_name("N"));
}

Argument Argument::repeatable() {
  return option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll), *this;
}

Argument Argument::separated_by(char character) { return option_->delimiter(character), *this; }
Argument Argument::excludes(Argument other) { return option_->excludes(other.option_), *this; }

template <class Value> Argument Command::add(const std::string& name, Value& value, const std::string& meaning) {
  const std::size_t blank = name.find(' ');
  const bool has_placeholder = blank != std::string::npos || !name.starts_with('-'); // a positional argument has none
  CLI::Option* option = app_->add_option(name.substr(0, blank), value, meaning);
  if (has_placeholder) option->type_name(blank == std::string::npos ? "" : name.substr(blank + 1));
  return Argument(option, has_placeholder);
}
template Argument Command::add(const std::string&, std::string&, const std::string&);
template Argument Command::add(const std::string&, std::optional<std::string>&, const std::string&);
template Argument Command::add(const std::string&, std::vector<std::string>&, const std::string&);
template Argument Command::add(const std::string&, int&, const std::string&);
template Argument Command::add(const std::string&, std::int64_t&, const std::string&);
template Argument Command::add(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Argument Command::add(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Argument Command::add(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Argument Command::add(const std::string&, std::optional<double>&, const std::string&);

Argument Command::add_flag(const std::string& name, bool& value, const std::string& meaning) {
  return Argument(app_->add_flag(name, value, meaning));
}

Argument Command::argument(const std::string& name) { return Argument(app_->get_option(name)); }
void Command::hide() { app_->group(""); }
void Command::when_chosen(std::function<void()> act) { app_->callback(std::move(act)); }

Command new_command(Commands& commands, const std::string& name, const std::string& summary, const std::string& help) {
  CLI::App* command = commands.app.add_subcommand(name, summary);
  command->group("Commands")->footer(help.empty() ? help : help + exit_statuses);
  return Command(command);
}

void add_config(Command& command, std::string& config, std::vector<std::string>& overrides) {
  command.add("CONFIG", config, "the TOML file, or - for standard input").required();
  command.add("OVERRIDES", overrides, "options that override the file's: a.b=value ...");
}

void add_output_folder(Command& command, std::string& out) {
  const Argument place = command.add("OUT", out, "the folder with the runs [runs]");
  command.add("--out FOLDER", out, "the same").excludes(place);
}

void add_notes(Command& command, std::string& notes) {
  command
      .add(
          "--notes HOW", notes,
          "in the terminal: all of each answer and note, or the short form, in which arms with the same answer share a "
          "sentence, and notes are one sentence [short]")
      .one_of({"short", "all"});
}

void require_notes_of_terminal(const char* command, const std::string& notes, const std::string& format) {
  if (!notes.empty() && format != "terminal")
    throw Refused(fmt::format("{}: --notes does nothing with the format {}, which has all notes; leave it out, or say "
                              "--format terminal",
                              command, format));
}

void add_average(Command& command, std::int64_t& count) {
  command.add("--average", count, "use the mean of the weights of the newest N checkpoints [1]").within(1, 1 << 20);
}

int command_line(const std::vector<std::string>& arguments, Console& given) {
  const std::string mark = terminal_mark();
  TerminalStream out(given.out, mark), err(given.err, mark);
  Console console{out,
                  err,
                  {given.out_style.colour && !mark.empty(), mark},
                  {given.err_style.colour && !mark.empty(), mark},
                  given.terminal,
                  given.live && !mark.empty(),
                  given.width,
                  given.program,
                  given.of_process,
                  given.terminal ? out : given.out};
  const WaitScope waits([&](const std::string& what) {
    say(console, what);
    console.err.flush();
  });
  int status = 0;
  std::string problem;
  std::vector<Diagnostic> errors;
  try {
    status = read_and_do(arguments, console);
    console.out.flush();
    if (!console.out) {
      problem = "standard output can't be written";
      status = std::max(status, 1);
    }
  } catch (const Refused& error) {
    status = 2;
    problem = error.what();
    errors = diagnostics_of(error);
  } catch (const Stopped& error) {
    status = 128 + StopSignals::last();
    problem = error.what();
  } catch (const DatabaseError& error) {
    status = 1;
    problem = fmt::format(
        "the index of runs can't answer this query: {}; request fewer columns (--columns) or fewer runs (--where)",
        error.what());
  } catch (const std::exception& error) {
    status = 1;
    problem = failure_in_words(error);
  }
  if (processes_of_mpi() > 1 && !has_agreed_to_begin()) {
    // The other processes may be waiting for this one.
    try {
      agree_to_begin({.runs = false, .problem = problem});
    } catch (const Refused& error) {
      status = 2;
      if (problem.empty() || has_agreed_to_begin()) problem = error.what();
    }
  }
  // Only the first of several processes reports the error. The others exit with 0, so that mpirun does not stop the
  // first one before it has reported.
  if (status == 2 && process_of_mpi() > 0) {
    status = 0;
    problem.clear();
  }
  if (!problem.empty() && !console.has_answered && asks_for_json(arguments)) {
    if (errors.empty()) errors.push_back(status == 2 ? diagnostic_of(problem) : failure_of(problem));
    errors.insert(errors.begin(), console.notes.begin(), console.notes.end());
    const boost::json::object answer = envelope(arguments.front(), status, nullptr, errors);
    const bool one_line = arguments.front() == "run"; // of lines of progress, the last
    console.data << (one_line ? json_line(answer) : indented(answer));
    console.data.flush();
  }
  if (!problem.empty()) {
    console.out.flush();
    constexpr std::string_view name = "heed:";
    print(console.err, "{} {}\n", console.err_style.red(std::string(name)), fitted(problem, console, name.size() + 1));
  }
  console.err.flush();
  return status;
}

} // namespace heed
