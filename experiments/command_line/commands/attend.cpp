// heed attend: shows the attention weights of a trained model's heads for inputs that the user gives.
#include "autograd/error.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/actions/trained_run.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/exports/export.hpp"
#include "experiments/report/attention_maps.hpp"
#include "experiments/report/indented_json.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/style.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/system/text.hpp"
#include "experiments/system/user_file.hpp"
#include "experiments/training/attention_example.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace heed {

namespace {

namespace json = boost::json;

struct AttendArguments {
  std::string run, out = "runs", npy;
  std::vector<std::string> inputs;
  std::optional<std::string> target;
  std::vector<std::int64_t> examples;
  std::int64_t average = 1;
  ResultOptions result;
};

std::vector<AttentionRequest> requests_of(const AttendArguments& arguments, const TrainedRun& run) {
  std::vector<AttentionRequest> requests;
  const auto add = [&](const std::string& input) {
    if (std::ranges::find(requests, input, &AttentionRequest::input) == requests.end())
      requests.push_back({input, arguments.target});
  };
  for (const std::string& input : arguments.inputs) add(input);
  for (const std::int64_t i : arguments.examples) add(example_as_input(run.config, *run.task, i, "--row"));
  if (requests.empty())
    throw Refused("give an input: --input TEXT, or --row N of the validation split; each may be repeated");
  if (arguments.target && requests.size() > 1)
    throw Refused(fmt::format("--target is the output for one input, but there are {} inputs", requests.size()));
  return requests;
}

/// The letters and digits of `text`, with one hyphen for each sequence of other characters. Used as the start of a file
/// name.
std::string file_word(const std::string& text) {
  constexpr std::size_t longest = 40;
  std::string word;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word.size() == longest) break;
    if (plain) word += c;
    else if (!word.empty() && word.back() != '-') word += '-';
  }
  while (word.ends_with('-')) word.pop_back();
  return word;
}

constexpr std::string_view index_begin = "{\n  \"run\": \"";

/// Whether a file with this beginning is one of `arrays_of`, which can be made again.
bool is_array_or_index(std::string_view beginning) {
  return is_npy(beginning) ||
         (beginning.starts_with(index_begin) && beginning.find(".npy\"") != std::string_view::npos);
}

/// One .npy file for each attention module and input, with shape [heads, queries, keys], and index.json with the tokens
/// of both axes: names and contents.
std::vector<std::pair<std::string, std::string>> arrays_of(const std::string& run,
                                                           const std::vector<AttentionExample>& examples) {
  std::vector<std::pair<std::string, std::string>> out;
  json::array files;
  for (std::size_t e = 0; e < examples.size(); ++e) {
    const std::vector<AttentionMap>& maps = examples[e].heads;
    for (auto first = maps.begin(); first != maps.end();) {
      const auto end = std::find_if(first, maps.end(),
                                    [&](const AttentionMap& m) { return m.module != first->module; });
      std::vector<float> numbers;
      for (auto map = first; map != end; ++map)
        for (const double weight : map->weights) numbers.push_back(static_cast<float>(weight));
      const std::string word = file_word(examples[e].input);
      const std::string name = fmt::format("{}{}{}.{}.npy", e + 1, word.empty() ? "" : "-", word, first->module);
      out.emplace_back(name, npy_bytes(numbers, std::vector<std::int64_t>{end - first, std::ssize(first->queries),
                                                                          std::ssize(first->keys)}));
      json::object file{{"file", name}, {"input", examples[e].input}};
      if (examples[e].output) file["output"] = *examples[e].output;
      file["module"] = first->module;
      file["heads"] = end - first;
      file["queries"] = json::array(first->queries.begin(), first->queries.end());
      file["keys"] = json::array(first->keys.begin(), first->keys.end());
      files.push_back(std::move(file));
      first = end;
    }
  }
  const json::value step = examples.front().step ? json::value(*examples.front().step) : json::value(nullptr);
  out.emplace_back("index.json", indented(json::object{{"run", run}, {"step", step}, {"files", std::move(files)}}));
  return out;
}

constexpr std::size_t longest_drawn = 24, widest_label = 12, widest_line = 100;
constexpr std::size_t narrowest_key = 2, widest_key = 5;

struct Shade {
  double below;
  const char* sign;
};

constexpr Shade shades[] = {{0.005, " "}, {0.05, "·"}, {0.2, "░"},
                            {0.45, "▒"},  {0.75, "▓"}, {std::numeric_limits<double>::infinity(), "█"}};

const char* shade_of(double weight) {
  if (!std::isfinite(weight)) return "–";
  return std::ranges::find_if(shades, [&](const Shade& shade) { return weight < shade.below; })->sign;
}

/// The text on one line: a symbol replaces line ends.
std::string one_line(const std::string& text) { return replaced(text, {{'\n', "⏎"}, {'\t', "⇥"}}); }

/// A token as visible text, also if it is blank or empty.
std::string visible(const std::string& token) {
  std::string out;
  for (const char c : one_line(token)) out += c == ' ' ? "␣" : std::string(1, c);
  return out.empty() ? "∅" : out;
}

/// `text` cut or padded to `width` columns.
std::string padded(const std::string& text, std::size_t width, bool right = false) {
  const std::string cut = cut_to(text, width);
  const std::string blanks(width - std::min(width, display_width(cut)), ' ');
  return right ? blanks + cut : cut + blanks;
}

bool drawn(const AttentionMap& map) { return map.queries.size() <= longest_drawn && map.keys.size() <= longest_drawn; }

std::size_t longest(const std::vector<std::string>& tokens) {
  std::size_t width = 0;
  for (const std::string& token : tokens) width = std::max(width, display_width(visible(token)));
  return width;
}

/// The columns for each key: its token and a space, limited by the space for all keys.
std::size_t key_width(const AttentionMap& map, std::size_t label) {
  const std::size_t wanted = std::clamp(longest(map.keys) + 1, narrowest_key, widest_key);
  return std::clamp((widest_line - label - 1) / map.keys.size(), narrowest_key, wanted);
}

/// The heads of one attention layer, side by side as far as they fit.
std::string draw(std::span<const AttentionMap> maps) {
  std::string out = fmt::format("\n  {}", maps.front().module);
  const std::size_t label = std::min(longest(maps.front().queries), widest_label);
  const std::size_t key_columns = key_width(maps.front(), label);
  const std::size_t width = label + 1 + key_columns * maps.front().keys.size() + 4;
  const std::size_t at_once = std::max<std::size_t>(1, widest_line / width);
  for (std::size_t first = 0; first < maps.size(); first += at_once) {
    const auto some = maps.subspan(first, std::min(at_once, maps.size() - first));
    std::string titles, keys;
    for (const AttentionMap& map : some) {
      titles += padded(std::string(label + 1, ' ') + fmt::format("head {}", map.head), width);
      keys += std::string(label + 1, ' ');
      for (const std::string& key : map.keys) keys += padded(cut_to(visible(key), key_columns - 1), key_columns);
      keys += "    ";
    }
    titles.erase(titles.find_last_not_of(' ') + 1);
    keys.erase(keys.find_last_not_of(' ') + 1);
    out += fmt::format("\n  {}\n  {}\n", titles, keys);
    for (std::size_t q = 0; q < maps.front().queries.size(); ++q) {
      out += "  ";
      for (const AttentionMap& map : some) {
        out += padded(visible(map.queries[q]), label, true) + " ";
        for (std::size_t k = 0; k < map.keys.size(); ++k) {
          const char* shade = shade_of(map.weights[q * map.keys.size() + k]);
          for (std::size_t column = 0; column < key_columns; ++column) out += shade;
        }
        out += "    ";
      }
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n";
    }
  }
  return out;
}

/// The key with the largest weight over all queries, and its proportion.
std::string most_of(const AttentionMap& map) {
  std::vector<double> sums(map.keys.size());
  double all = 0;
  for (std::size_t i = 0; i < map.weights.size(); ++i) {
    sums[i % sums.size()] += map.weights[i];
    all += map.weights[i];
  }
  const auto most = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  if (!(all > 0)) return "-";
  return fmt::format("{} at {}, {:.0f} %", cut_to(visible(map.keys[most]), widest_label), most, 100 * sums[most] / all);
}

/// The input (and output), and one line for each head: entropy, distance and the key with the largest weight. With at
/// most 24 queries and 24 keys, each head's heatmap follows: one line for each query, two to five columns for each key.
std::string attention_text(const AttentionExample& example, const Style& style) {
  std::string out = fmt::format("\n{}\n", style.bold(one_line(example.input)));
  if (example.output)
    out += fmt::format("  {} {}\n", example.forced ? "the given output" : "the output", one_line(*example.output));
  TextTable table{{"attention", "head", "queries x keys", "entropy", "distance", "most on"},
                  {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left},
                  {}};
  bool all_drawn = true;
  for (const AttentionMap& map : example.heads) {
    all_drawn = all_drawn && drawn(map);
    table.rows.push_back({map.module, fmt::format("{}", map.head),
                          fmt::format("{} x {}", map.queries.size(), map.keys.size()), fixed(map.entropy, 3),
                          fixed(map.distance, 2), most_of(map)});
  }
  out += "\n" + to_text(table);
  for (auto first = example.heads.begin(); first != example.heads.end();) {
    const auto end = std::find_if(first, example.heads.end(),
                                  [&](const AttentionMap& m) { return m.module != first->module; });
    if (drawn(*first)) out += draw({first, end});
    first = end;
  }
  if (all_drawn)
    out += "\n  queries from top to bottom, keys from left to right; weights above 0.005 ·, 0.05 ░, 0.2 ▒, 0.45 ▓, "
           "0.75 █\n";
  const auto lost = [](const AttentionMap& map) {
    return !std::ranges::all_of(map.weights, [](double weight) { return std::isfinite(weight); });
  };
  if (std::ranges::any_of(example.heads, lost)) out += "  –: the weight is not a number, as the score is not\n";
  return out;
}

int attend(const AttendArguments& arguments, Console& console) {
  if (!arguments.result.file.empty() && arguments.result.format.empty() && !arguments.result.json)
    throw Refused("attend: --output FILE needs --format json; the text that the decoder reads is --target TEXT");
  ResultOptions result = arguments.result;
  if (!arguments.npy.empty() && result.file.empty()) result.force = false; // it is for the arrays
  ResultOutput output("attend", result);
  const TrainedRun run = trained_run(arguments.out, arguments.run, arguments.average, console);
  const RunFolder folder = find_run(arguments.out, arguments.run);
  std::vector<AttentionExample> examples = run.engine().attend(run.config, *run.task, run.checkpoint,
                                                               requests_of(arguments, run));
  for (AttentionExample& example : examples) example.average = arguments.average;
  if (!arguments.npy.empty()) {
    make_folder(arguments.npy);
    write_user_files(arguments.npy, arrays_of(run.id, examples),
                     {.is_own = is_array_or_index, .force = arguments.result.force});
  }
  const std::string damage = update_attention(folder, [&](std::vector<AttentionExample>& kept) {
    kept = merged(std::move(kept), examples);
  });
  if (!damage.empty()) say(console, damage + "; it was written anew");
  const std::int64_t step = examples.front().step.value_or(0);
  if (output.is("json")) {
    output.write_result(AttendResult{run.id, step, arguments.average, attention_array(examples)}, console);
    return 0;
  }
  print(console.out, "run {} at step {}{}\n", run.id, step, average_in_words(arguments.average));
  for (const AttentionExample& example : examples) console.out << attention_text(example, console.out_style);
  print(console.out,
        "\n"
        "  saved in {}, for heed report\n",
        folder.attention().string());
  if (!arguments.npy.empty()) print(console.out, "  arrays in {}\n", arguments.npy);
  return 0;
}

} // namespace

void add_attend(Commands& commands) {
  add_command<AttendArguments>(
      commands, "attend", "show the attention weights of a trained run's heads for given inputs",
      "Examples:\n"
      "  heed attend 3f2a --input \"3 1 4 1 5 |\"\n"
      "  heed attend 3f2a --row 0 --row 1 --json\n"
      "  heed attend 9c01 --input \"jump left twice\" --target \"I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP\"\n"
      "  heed attend 9c01 --input \"jump left twice\" --npy maps\n"
      "The weights are saved in the run's attention.json, where heed report finds them. An input that is already "
      "there\n"
      "is replaced. For images, an input is an example of the validation split. The decoder of an encoder-decoder "
      "reads "
      "the\n"
      "model's greedy output, or --target. RUN is the path of a run's folder, or a unique beginning of its ID.",
      [](Command& command, AttendArguments& arguments) {
        command.add("RUN", arguments.run, "which run").required();
        command.add("--input TEXT", arguments.inputs, "an input text").repeatable();
        command.add("--row", arguments.examples, "the number of an example of the validation split, from 0")
            .within(0, std::int64_t{1} << 40)
            .repeatable();
        command.add("--target TEXT", arguments.target, "the output that the decoder reads [the model's greedy output]");
        add_average(command, arguments.average);
        command.add("--npy FOLDER", arguments.npy, "a folder for .npy files, float32 [heads, queries, keys]");
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.argument("--force").description(
            "with --npy or --output: replace files also if Heed did not write them");
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
      },
      attend);
}

} // namespace heed
