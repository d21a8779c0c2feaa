// heed completion: prints the script that makes a shell complete heed's words.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/completion.hpp"

namespace heed {

namespace {

struct CompletionArguments {
  std::string shell;
};

int print_script(const CompletionArguments& arguments, Console& console) {
  console.data << completion_script(arguments.shell);
  return 0;
}

} // namespace

void add_completion(Commands& commands) {
  add_command<CompletionArguments>(
      commands, "completion", "print a shell script that lets the tab key complete commands, options and runs",
      "Examples:\n"
      "  source <(heed completion bash)     in ~/.bashrc\n"
      "  source <(heed completion zsh)      in ~/.zshrc, after compinit\n"
      "  heed completion bash > ~/.local/share/bash-completion/completions/heed\n"
      "It completes commands, their options, the options of a config and their values, runs, sweeps and files.",
      [](Command& command, CompletionArguments& arguments) {
        command.add("SHELL", arguments.shell, "bash or zsh").required().one_of(completed_shells());
      },
      print_script);
}

} // namespace heed
