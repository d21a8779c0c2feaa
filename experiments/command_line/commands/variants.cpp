// heed variants: lists all interchangeable parts (scores, normalisers, positions, tasks, models), and measures their
// cost.
#include "autograd/error.hpp"
#include "experiments/actions/variant_families.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/registry.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/config/values.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/sketch_svg.hpp"
#include "experiments/report/svg_picture.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/system/text.hpp"
#include "experiments/system/user_file.hpp"
#include "experiments/training/training.hpp"
#include "options/variant.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>

namespace heed {

namespace {

struct VariantsArguments {
  std::string family, pictures;
  bool measure = false;
  ResultOptions result;
  std::vector<std::int64_t> lengths;
  std::optional<std::int64_t> width, heads;
  std::optional<double> seconds;
};

void print_text(const VariantFamily& family, Console& console) {
  const Style& style = console.out_style;
  print(console.out, "{}  {}\n\n", style.bold(key_of(family)), family.title);
  for (const Variant* variant : family.variants) {
    print(console.out, "  {}\n      {}\n", style.bold(variant->name), variant->summary);
    if (!variant->paper.empty()) print(console.out, "      paper: {}\n", variant->paper);
    if (!variant->equals.empty()) print(console.out, "      equals: {}\n", variant->equals);
    if (!variant->cost.empty()) print(console.out, "      cost: {}\n", variant->cost);
    for (const auto& [key, value] : variant->presets)
      print(console.out, "      sets: {} = {}, unless you do\n", key, value_text(value));
    for (const Option& option : variant->options)
      print(console.out, "      {}.{}.{} = {}: {}\n", family.table, variant->name, option.name,
            value_text(option.default_value), option.meaning);
    console.out << "\n";
  }
}

/// The measured cost of a variant at each length.
struct MeasuredVariant {
  const Variant* variant;
  std::vector<AttentionCost> costs;
};

/// Measures the cost of variants, all at the same lengths, width and number of heads.
class Measure {
public:
  explicit Measure(const VariantsArguments& arguments)
      : lengths(arguments.lengths.empty() ? std::vector<std::int64_t>{128, 2048} : arguments.lengths),
        width_(arguments.width.value_or(64)), heads_(arguments.heads.value_or(4)),
        seconds_(arguments.seconds.value_or(0.2)) {}

  /// All other options have their defaults, or the values that the variant sets.
  MeasuredVariant operator()(const std::string& key, const Variant& variant) const {
    const Config config = config_with({fmt::format("{}={}", key, variant.name)});
    MeasuredVariant out{&variant, {}};
    for (const std::int64_t length : lengths)
      out.costs.push_back(engine(config).attention_cost(config, length, seconds_));
    return out;
  }

  std::string how() const {
    const std::string kernels = instruction_set_of(config_with({}));
    return fmt::format("one block's causal attention with its projections, width {}, {} head{}: a sequence forward and "
                       "backward on one thread, kernels {}",
                       width_, heads_, plural(heads_), kernels);
  }

  const std::vector<std::int64_t> lengths;

private:
  Config config_with(std::vector<std::string> overrides) const {
    overrides.push_back(fmt::format("model.width={}", width_));
    overrides.push_back(fmt::format("model.heads={}", heads_));
    Settings settings = Settings::parse("", "--measure");
    settings.override_with(overrides);
    return settings.resolve();
  }

  std::int64_t width_, heads_;
  double seconds_;
};

bool is_measured(const VariantFamily& family) {
  constexpr std::string_view measured[] = {"attention.score", "attention.normalizer", "position.kind"};
  return std::ranges::find(measured, key_of(family)) != std::end(measured);
}

/// A time with three digits: 0.437 ms, 27.3 ms, 1.04 s.
std::string measured_time(double seconds) {
  const bool long_one = seconds >= 1;
  const double value = long_one ? seconds : 1e3 * seconds;
  return fmt::format("{:.{}f} {}", value, value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0, long_one ? "s" : "ms");
}

void print_measured(const std::vector<VariantFamily>& families, const Measure& measure, Console& console) {
  print(console.out, "{}\n", measure.how());
  for (const VariantFamily& family : families) {
    TextTable table{{key_of(family)}, {Align::left}, {}};
    for (const std::int64_t length : measure.lengths)
      for (const char* what : {"parameters", "FLOPs", "time", "memory"})
        table.add_column(fmt::format("{} at {}", what, length));
    for (const Variant* variant : family.variants) {
      std::vector<std::string> row{variant->name};
      for (const AttentionCost& cost : measure(key_of(family), *variant).costs)
        for (std::string& cell : std::vector{with_commas(cost.parameters), scaled(cost.flops, ""),
                                             measured_time(cost.seconds), scaled(cost.bytes, "B")})
          row.push_back(std::move(cell));
      table.rows.push_back(std::move(row));
    }
    console.out << "\n" << to_text(table);
  }
}

VariantsResult measured_result(const std::vector<VariantFamily>& families, const Measure& measure) {
  VariantsResult out{.how = measure.how()};
  for (const VariantFamily& family : families)
    for (const Variant* variant : family.variants) {
      const MeasuredVariant measured = measure(key_of(family), *variant);
      for (std::size_t i = 0; i < measure.lengths.size(); ++i) {
        const AttentionCost& cost = measured.costs[i];
        out.costs.push_back({key_of(family), variant->name, measure.lengths[i], cost.parameters, cost.flops,
                             cost.seconds, cost.bytes});
      }
    }
  return out;
}

int measured(std::vector<VariantFamily> families, const VariantsArguments& arguments, ResultOutput& output,
             Console& console) {
  std::erase_if(families, [](const VariantFamily& family) { return !is_measured(family); });
  if (families.empty())
    throw Refused(fmt::format(
        "variants: --measure is only for attention.score, attention.normalizer and position.kind, not for {}",
        arguments.family));
  const Measure measure(arguments);
  if (output.is("json")) output.write_result(measured_result(families, measure), console);
  else print_measured(families, measure, console);
  return 0;
}

/// Writes FOLDER/FAMILY-NAME.svg for each variant with a picture; if all families are drawn, also for words of other
/// options.
int draw(const std::vector<VariantFamily>& families, bool all, const std::filesystem::path& folder, bool force,
         Console& console) {
  std::vector<std::pair<std::string, std::string>> pictures;
  const auto draw_one = [&](const std::string& key, const std::string& name, const std::string& title) {
    if (const std::vector<Sketch> panels = sketches_of(key, name); !panels.empty())
      pictures.emplace_back(fmt::format("{}-{}.svg", key, name), svg_of(panels, title));
  };
  for (const VariantFamily& family : families)
    for (const Variant* variant : family.variants)
      draw_one(key_of(family), variant->name, fmt::format("{} {}: {}", family.title, variant->name, variant->summary));
  if (all)
    for (const SketchedWord& word : sketched_words())
      draw_one(word.key, word.word, fmt::format("{} = {}: {}", word.key, word.word, word.summary));
  if (pictures.empty()) throw Refused("variants: none of these variants has a picture");
  make_folder(folder);
  write_user_files(folder, pictures, {.is_own = is_picture_of_heed, .force = force});
  print(console.out, "{}: {} picture{}\n", folder.string(), pictures.size(), plural(pictures.size()));
  return 0;
}

int variants(const VariantsArguments& arguments, Console& console) {
  const std::vector<VariantFamily> families = families_called(arguments.family);
  if (!arguments.pictures.empty()) {
    if (arguments.measure || !arguments.result.format.empty() || arguments.result.json ||
        !arguments.result.file.empty())
      throw Refused("variants: --pictures only draws; leave out --measure, --format, --json and --output");
    return draw(families, arguments.family.empty(), arguments.pictures, arguments.result.force, console);
  }
  ResultOutput output("variants", arguments.result);
  if (arguments.measure) return measured(families, arguments, output, console);
  if (!arguments.lengths.empty() || arguments.width || arguments.heads || arguments.seconds)
    throw Refused("variants: --lengths, --width, --heads and --seconds do nothing without --measure; add it");
  if (output.is("json")) {
    VariantsResult all;
    for (const VariantFamily& family : families) all.families.push_back(family_result(family));
    output.write_result(all, console);
    return 0;
  }
  for (const VariantFamily& family : families) print_text(family, console);
  return 0;
}

} // namespace

void add_variants(Commands& commands) {
  add_command<VariantsArguments>(
      commands, "variants", "list scores, normalisers, positions, tasks, models, ...: formula, paper, cost, options",
      "Examples:\n"
      "  heed variants\n"
      "  heed variants attention.score\n"
      "  heed variants position --json\n"
      "  heed variants attention.normalizer --pictures pictures\n"
      "  heed variants --measure\n"
      "  heed variants attention.score --measure --lengths 512 4096 --width 128\n"
      "--measure computes one block's attention with each score, normaliser and position, for one sequence forward "
      "and\n"
      "backward on one thread. Run nothing else during it: it measures times of this machine.",
      [](Command& command, VariantsArguments& arguments) {
        command.add("FAMILY", arguments.family, "only these: attention.score, score, position, rotary, ...");
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.argument("--force").description(
            "with --pictures or --output: replace files also if Heed did not write them");
        command.add("--pictures FOLDER", arguments.pictures,
                    "draw each variant (the score of each key, the weights of a row, the bias, the curve) as "
                    "FOLDER/FAMILY-NAME.svg");
        command.add_flag("--measure", arguments.measure,
                         "measure parameters, FLOPs, time and memory of scores, normalisers and positions");
        command.add("--lengths T ...", arguments.lengths, "with --measure: tokens of the sequence [128 2048]")
            .within(1, 1 << 20);
        command.add("--width", arguments.width, "with --measure: model.width [64]").within(1, 1 << 20);
        command.add("--heads", arguments.heads, "with --measure: model.heads [4]").within(1, 1 << 20);
        command
            .add("--seconds", arguments.seconds,
                 "with --measure: seconds for each variant, at least three repetitions [0.2]")
            .within(0.0, 3600.0);
      },
      variants);
}

} // namespace heed
