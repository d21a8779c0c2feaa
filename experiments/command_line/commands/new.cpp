// heed new: writes a new configuration, with comments, for a task or for the user's own data.
#include "autograd/error.hpp"
#include "experiments/actions/new_config.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace heed {

namespace {

struct NewArguments {
  std::string kind, output;
  std::vector<std::string> data;
  ResultOptions result;
};

int write_new(const NewArguments& arguments, Console& console) {
  ResultOutput output("new", arguments.result);
  const bool to_output = arguments.output == "-";
  NewConfig wanted{arguments.kind, arguments.data, arguments.output, console.program};
  if (arguments.output.empty() || to_output) wanted.file = arguments.kind + ".toml";
  if (std::ranges::any_of(wanted.file, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    throw Refused("the name of the file has a control character; choose another: --output FILE.toml");
  const auto [text, note] = new_config_text(wanted);
  if (!note.empty()) say(console, "note: " + note);
  NewResult result{.config = text, .needs_data = needs_data_path(wanted)};
  if (to_output && output.is("json")) {
    output.write_result(result, console);
    return 0;
  }
  if (to_output) {
    console.data << text;
    return 0;
  }
  const std::filesystem::path file = wanted.file;
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    std::vector<std::string> other{console.program, "new", arguments.kind};
    other.insert(other.end(), arguments.data.begin(), arguments.data.end());
    other.insert(other.end(), {"--output", "OTHER.toml"});
    throw Refused(fmt::format("{}: this file exists already, and heed new never overwrites a file. Write to another "
                              "file:\n      {}",
                              wanted.file, shell_words(other)));
  }
  write_file(file, text);
  if (output.is("json")) {
    result.file = wanted.file;
    output.write_result(result, console);
    return 0;
  }
  print(console.out, "{} is written.{} Next:\n", wanted.file,
        needs_data_path(wanted) ? " First put the path of your data into data.path." : "");
  const std::vector<std::string> next[] = {{console.program, "check", wanted.file},
                                           {console.program, "run", wanted.file}};
  const char* const what[] = {"checks it, without training", "trains its runs, and shows the results"};
  const std::size_t width = shell_words(next[0]).size();
  for (std::size_t i = 0; i < 2; ++i) print(console.out, "  {:<{}}     {}\n", shell_words(next[i]), width, what[i]);
  return 0;
}

} // namespace

void add_new(Commands& commands) {
  add_command<NewArguments>(
      commands, "new", "write a config with comments, for a task or for your own data",
      fmt::format("KIND is text, pairs, labels or images for your own data, or a task that generates its examples:\n"
                  "  {}\n"
                  "Examples:\n"
                  "  heed new reverse                        writes reverse.toml\n"
                  "  heed new text my.txt --output my.toml   a text file: each character is predicted\n"
                  "  heed new pairs pairs.tsv                inputs and outputs, with a tab between them\n"
                  "  heed new pairs en.txt de.txt            the same in two files, line by line\n"
                  "  heed new labels reviews.csv             a table with texts and labels\n"
                  "  heed new images mnist                   a folder with MNIST's files, or with CIFAR-10's\n"
                  "No file is ever overwritten.",
                  fmt::join(generated_kinds(), ", ")),
      [](Command& command, NewArguments& arguments) {
        command.add("KIND", arguments.kind, "the kind of data, or the task; see below").required();
        command.add("DATA", arguments.data, "the file of the data; of pairs, perhaps two; of images, a folder");
        command.add("--output FILE", arguments.output, "the file to write; -: standard output [KIND.toml]");
        add_json_option(command, arguments.result);
      },
      write_new);
}

} // namespace heed
