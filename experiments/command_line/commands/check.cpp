// heed check: checks a configuration, its data and the model of every arm, without running anything.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/preparation.hpp"
#include "experiments/command_line/print.hpp"
#include "experiments/command_line/sketch_svg.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/values.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/system/user_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace heed {

namespace {

struct CheckArguments {
  std::string config, out = "runs";
  std::vector<std::string> overrides;
  std::string picture;
  bool force = false;
  std::optional<std::int64_t> length;
};

/// One panel for each of the first heads with a mask or bias of its own.
std::vector<Sketch> sketches_of_attention(const Config& config, std::int64_t length) {
  constexpr std::size_t most = 4;
  const std::vector<std::string>& stacks = stacks_of(config.model.kind);
  if (stacks.empty())
    throw Refused(fmt::format("check: --picture draws self attention, and model.kind = \"{}\" has none",
                              config.model.kind));
  const std::string place = stacks.size() > 1 ? fmt::format("block 1 of the {}", stacks.front()) : "block 1";
  std::vector<std::vector<double>> heads = engine(config).added_scores(config, length);
  const bool same = std::ranges::all_of(heads, [&](const auto& head) { return head == heads.front(); });
  if (same) heads.resize(1);
  if (heads.size() > most) heads.resize(most);
  std::vector<Sketch> out;
  for (std::size_t head = 0; head < heads.size(); ++head) {
    Sketch panel{.title = same ? "all heads of " + place : fmt::format("head {} of {}", head + 1, place),
                 .x = "position of the key",
                 .y = "position of the query"};
    panel.heatmap = {length, length, std::move(heads[head])};
    panel.x_range = panel.y_range = {0, static_cast<double>(length - 1)};
    out.push_back(std::move(panel));
  }
  return out;
}

int check(const CheckArguments& arguments, Console& console) {
  if (arguments.length && arguments.picture.empty())
    throw Refused("check: --length does nothing without --picture; add it");
  if (arguments.force && arguments.picture.empty())
    throw Refused("check: --force does nothing without --picture; add it");
  std::optional<UserFile> picture;
  if (!arguments.picture.empty())
    picture.emplace(arguments.picture, Replacing{.is_own = is_picture_of_heed, .force = arguments.force});
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks, {}, arguments.out);
  check_sense(prepared, {}, console);
  print(console.out, "{}: fine; {}, compared by {}\n", arguments.config, size_in_words(prepared.plan),
        prepared.metric.name);
  if (picture) {
    const std::vector<Sketch> panels = sketches_of_attention(prepared.arms.front().config, // the reference
                                                             arguments.length.value_or(32));
    console.out.flush(); // the picture may go to the same place
    picture->write(without_controls(svg_of(
        panels, fmt::format("{}: what is added to the score of each key; masked keys are marked", arguments.config))));
    if (picture->is_file())
      print(console.out, "{}: the masks and what is added to scores, for zero queries and keys\n", arguments.picture);
  }
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
      "Errors name file:line:column, what was found, what is allowed and the nearest name." +
          std::string(exit_statuses),
      [](Command& command, CheckArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command
            .add("--picture", arguments.picture,
                 "draw the reference's first block: which keys each query may attend to, and what positions and "
                 "formulas add to the scores of zero vectors, with initial parameters and two segments")
            .value_name("FILE.svg");
        command.add_flag("--force", arguments.force,
                         "with --picture: replace the file also if it is no picture of Heed's");
        command.add("--length", arguments.length, "with --picture: tokens of the row [32]")
            .within(1, 256)
            .value_name("T");
        command.add("--out", arguments.out, "the folder with the runs of train.start [runs]").value_name("FOLDER");
      },
      check);
}

} // namespace heed
