// heed generate: generates text with a trained run's model.
#include "experiments/actions/requests.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/actions/trained_run.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/data/table_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/sweep/preparation.hpp"

#include "autograd/error.hpp"

namespace heed {

namespace {

struct GenerateArguments {
  std::string run, out = "runs", input, file;
  std::int64_t average = 1;
  GenerationRequest question;
  ResultOptions result;
};

std::vector<std::string> inputs_of(const GenerateArguments& a, TaskFormat format) {
  if (a.file.empty() == a.input.empty() && format == TaskFormat::image_classification)
    throw Refused(
        "give the image whose class is wanted, an example of the validation split, with --input \"row 0\", or a "
        "file with one on each line, with --input-file FILE");
  if (a.file.empty() == a.input.empty())
    throw Refused("give the input text, with --input TEXT, or a file with one on each line, with --input-file FILE");
  if (a.file.empty()) return {a.input};
  std::vector<std::string> lines;
  const std::string bytes = read_data_file("generate", "--input-file", a.file);
  each_line(without_mark(bytes), [&](std::int64_t, std::string_view line) { lines.emplace_back(line); });
  return lines;
}

int generate(const GenerateArguments& arguments, Console& console) {
  ResultOutput output("generate", arguments.result);
  const TrainedRun run = trained_run(arguments.out, arguments.run, arguments.average, console);
  const TaskFormat format = task_format_of(run.config);
  const bool continues = format == TaskFormat::language_model;
  GenerationRequest question = arguments.question;
  question.has_input = !arguments.input.empty();
  question.has_input_file = !arguments.file.empty();
  Sampling sampling = sampling_of(question, format, run.config.model.kind);
  GenerateResult result{.run = run.id, .average = arguments.average};
  sampling.write = [&](std::string_view text) {
    if (output.is("json")) {
      result.text += text;
      return;
    }
    console.data << text;
    console.data.flush();
  };
  sampling.note = [&](const std::string& note) {
    say(console, "note: " + note);
    console.err.flush();
  };
  sampling.prompt = question.prompt;
  if (!continues) sampling.inputs = inputs_of(arguments, format);
  run.engine().generate(run.config, *run.task, run.checkpoint, sampling);
  if (output.is("json")) output.write_result(result, console);
  else if (continues) console.data << "\n";
  return 0;
}

} // namespace

void add_generate(Commands& commands) {
  add_command<GenerateArguments>(
      commands, "generate", "generate text with a trained model, or predict the class of an input",
      "Examples:\n"
      "  heed generate 3f2a --prompt \"ROMEO:\"\n"
      "  heed generate runs/3f2a8c11d0b7e644 --prompt \"ROMEO:\" --tokens 1000 --temperature 0.8 --top-k 20\n"
      "  heed generate 9c01 --input \"jump left twice\" --beam 4 --length-penalty 0.6\n"
      "  heed generate 9c01 --input-file sentences.txt --average 5\n"
      "  heed generate 77d0 --input \"a film to remember\"\n"
      "A decoder continues --prompt. An encoder-decoder prints a line with the output for each input. A classifier\n"
      "prints a line for each of the most probable classes: the probability, a tab, and the class; an empty line\n"
      "separates inputs. For a model of images, an input is an example of the validation split: \"row 0\".\n"
      "RUN is the path of a run's folder, or a unique beginning of its ID. The same seed gives the same text.",
      [](Command& command, GenerateArguments& arguments) {
        command.add("RUN", arguments.run, "which run").required();
        command.add("--prompt TEXT", arguments.question.prompt, "the text to continue");
        command.add("--tokens", arguments.question.tokens, "number of tokens to generate [500]")
            .within(1, GenerationRequest::most_tokens);
        command
            .add("--temperature", arguments.question.temperature,
                 "temperature of the random choices; 0: always the most probable token [1]")
            .within(0.0, GenerationRequest::most_temperature);
        command
            .add("--top-k", arguments.question.top_k,
                 "choose only among the k most probable tokens; 0: all [0; for classes 5]")
            .within(0, GenerationRequest::most_top_k);
        command.add("--seed N", arguments.question.seed, "seed of the random choices [0]");
        command.add("--input TEXT", arguments.input, "the input text");
        command.add("--input-file FILE", arguments.file, "a file with an input text on each line");
        command.add("--beam", arguments.question.beam, "beam width; 1: greedy search [1]")
            .within(1, GenerationRequest::most_beam);
        command
            .add("--length-penalty", arguments.question.length_penalty,
                 "log probabilities are divided by ((5 + tokens) / 6)^N [0]")
            .within(0.0, GenerationRequest::most_length_penalty);
        command
            .add("--length-penalty-kind KIND", arguments.question.length_penalty_kind,
                 "base of the length penalty: gnmt: (5 + tokens) / 6; fairseq: tokens [gnmt]")
            .one_of({"gnmt", "fairseq"});
        add_average(command, arguments.average);
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
      },
      generate);
}

} // namespace heed
