// heed check: checks a configuration, its data and the model of every arm, without running anything.
#include "experiments/actions/results.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/values.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/report/picture_files.hpp"
#include "experiments/report/sketch_svg.hpp"
#include "experiments/report/svg_picture.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/system/user_file.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace heed {

namespace {

struct CheckArguments {
  std::string config, out = "runs";
  std::vector<std::string> overrides;
  std::string picture;
  std::optional<std::int64_t> length;
  ResultOptions result;
};

/// The tokens of the sequence that is drawn, or the patches of an image.
struct PictureSequence {
  std::int64_t length = 32, patches_in_row = 0;
};

PictureSequence picture_sequence(const Config& config, const Task& task, std::optional<std::int64_t> length) {
  if (config.model.kind != "patches") return {.length = length.value_or(32)};
  const ImageShape image = task.sizes(TaskFormat::image_classification).image;
  const std::int64_t patch = std::get<std::int64_t>(config.model_options.at("patch"));
  const PictureSequence out{(image.height / patch) * (image.width / patch), image.width / patch};
  if (length)
    throw Refused(fmt::format("check: --length does nothing for images: they have {} patches, in rows of {}; leave it "
                              "out",
                              out.length, out.patches_in_row));
  constexpr std::int64_t most = 256;
  if (out.length > most)
    throw Refused(fmt::format("check: --picture draws at most {} patches, and these images have {}; raise "
                              "model.patches.patch",
                              most, out.length));
  return out;
}

/// For each attention of the first blocks, one panel for each of the first heads with a mask or bias of its own.
std::vector<Sketch> sketches_of_attention(const Config& config, const PictureSequence& sequence) {
  constexpr std::size_t most = 4;
  if (stacks_of(config.model.kind).empty())
    throw Refused(fmt::format("check: --picture draws the attention of Transformer blocks, and model.kind = \"{}\" has "
                              "none",
                              config.model.kind));
  const char* const unit = sequence.patches_in_row > 0 ? "patch" : "position";
  std::vector<Sketch> out;
  for (AddedScores& of : engine(config).added_scores(config, sequence.length, sequence.patches_in_row)) {
    const auto equals_first = [&](const std::vector<double>& head) {
      return std::ranges::equal(head, of.heads.front(),
                                [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
    };
    const bool same = std::ranges::all_of(of.heads, equals_first);
    if (same) of.heads.resize(1);
    if (of.heads.size() > most) of.heads.resize(most);
    for (std::size_t head = 0; head < of.heads.size(); ++head) {
      Sketch panel{.title = same ? "all heads: " + of.place : fmt::format("head {}: {}", head, of.place),
                   .x = fmt::format("{} of the key", unit),
                   .y = fmt::format("{} of the query", unit)};
      panel.heatmap = {of.queries, of.keys, std::move(of.heads[head]), sequence.patches_in_row};
      panel.x_range = {0, static_cast<double>(of.keys - 1)};
      panel.y_range = {0, static_cast<double>(of.queries - 1)};
      out.push_back(std::move(panel));
    }
  }
  return out;
}

CheckResult check_result(const CheckArguments& arguments, const Preparation& prepared) {
  const Plan& plan = prepared.plan;
  CheckResult out{.config = arguments.config,
                  .name = plan.name,
                  .metric = plan.metric,
                  .runs = plan.runs.size(),
                  .seeds = plan.seeds};
  for (const Arm& arm : plan.arms) out.arms.push_back(arm.label);
  if (!arguments.picture.empty()) out.picture = arguments.picture;
  return out;
}

int check(const CheckArguments& arguments, Console& console) {
  if (arguments.length && arguments.picture.empty())
    throw Refused("check: --length does nothing without --picture; add it");
  ResultOptions result = arguments.result;
  if (!arguments.picture.empty() && result.file.empty()) result.force = false; // it is for the picture
  ResultOutput output("check", result);
  std::optional<UserFile> picture;
  const std::string format = picture_format(arguments.picture);
  if (!arguments.picture.empty())
    picture.emplace(arguments.picture, Replacing{.is_own = is_picture_of_heed, .force = arguments.result.force});
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks, arguments.out);
  check_sense(prepared, {}, console);
  if (!output.is("json"))
    print(console.out, "{}: fine; {}, compared by {}\n", arguments.config == "-" ? "standard input" : arguments.config,
          size_in_words(prepared.plan), prepared.metric.name);
  if (picture) {
    const Config& reference = prepared.arms.front().config;
    const std::vector<Sketch> panels = sketches_of_attention(reference, picture_sequence(reference, tasks.of(reference),
                                                                                         arguments.length));
    console.out.flush(); // the picture may go to the same place
    picture->write(picture_in(
        format, without_controls(svg_of(panels, fmt::format("{}: what is added to the score of each key; masked keys "
                                                            "are marked",
                                                            arguments.config)))));
    if (picture->is_file() && !output.is("json"))
      print(console.out, "{}: the masks and what is added to scores, for zero queries and keys\n", arguments.picture);
  }
  if (output.is("json")) output.write_result(check_result(arguments, prepared), console);
  return 0;
}

} // namespace

void add_check(Commands& commands) {
  add_command<CheckArguments>(
      commands, "check", "check a config, its data and every arm's model; trains nothing",
      "Examples:\n"
      "  heed check configs/quickstart.toml\n"
      "  heed check my.toml attention.score=additive\n"
      "  heed check my.toml 'attention.mask_mod=i - j < 8' --picture mask.svg\n"
      "Errors name file:line:column, what was found, what is allowed and the nearest name.",
      [](Command& command, CheckArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add(
            "--picture FILE", arguments.picture,
            "draw the reference's first block, of an encoder-decoder both stacks' and cross attention: which keys "
            "each query may attend to, and what positions and formulas add to the scores of zero vectors, with "
            "initial parameters and two segments");
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.argument("--force").description(
            "with --picture or --output: replace files also if Heed did not write them");
        command.add("--length T", arguments.length, "with --picture: tokens of the sequence [32]").within(1, 256);
        command.add("--out FOLDER", arguments.out, "the folder with the runs of train.start [runs]");
      },
      check);
}

} // namespace heed
