// heed show: prints a configuration with the value of every option, or with its changes only; for a run, also its
// outcome.
#include "experiments/actions/shown_config.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/runs/run_start.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/system/text.hpp"

#include <fmt/format.h>

namespace heed {

namespace {

struct ShowArguments {
  std::string config, diff_from, out = "runs";
  std::vector<std::string> overrides;
  ResultOptions result;
};

void print_difference(const Config& from, const Config& to, const std::string& here, const std::string& there,
                      Console& console) {
  TextTable table{{"option", there, here}, {Align::left, Align::left, Align::left}, {}};
  for (const Difference& d : difference(from, to))
    table.rows.push_back({d.key, d.a.empty() ? "-" : d.a, d.b.empty() ? "-" : d.b});
  if (table.rows.empty()) console.out << "  no difference\n";
  else console.out << to_text(table);
}

/// The run that the argument names, or none if it names a configuration file.
std::optional<RunFolder> run_meant(const ShowArguments& arguments) {
  std::error_code error;
  if (arguments.config == "-" || std::filesystem::is_regular_file(arguments.config, error) ||
      arguments.config.ends_with(".toml"))
    return std::nullopt;
  try {
    return find_run(arguments.out, arguments.config);
  } catch (const Refused& refused) {
    throw Refused(fmt::format("{}: there is no such file; {}", arguments.config, refused.what()));
  }
}

/// Prints the text as TOML comments, one for each of its lines.
void comment(std::string_view text, Console& console) {
  for (const std::string& line : parts_of(text, '\n')) print(console.out, "#{}{}\n", line.empty() ? "" : " ", line);
}

/// Prints the outcome of a run, as comments above its configuration.
void print_run(const RunFolder& run, Console& console) {
  const auto entry = read_entry(run);
  if (!entry) {
    comment(fmt::format("run {}: {}", run.id(), entry.error), console);
    return;
  }
  comment(fmt::format("run {}: {}", run.id(), name_of(entry->state)), console);
  if (const auto& m = entry->manifest) {
    comment(fmt::format("{} to {}, {} of work on {} thread{}", m->started, m->ended.empty() ? "?" : m->ended,
                        duration(m->seconds), m->threads, plural(m->threads)),
            console);
    comment(fmt::format("heed {}, {} {}, {}{}, on {}", m->build.version, m->build.compiler, m->build.flags,
                        m->build.kernels.empty() ? "" : fmt::format("kernels {}, ", m->build.kernels), m->build.blas,
                        m->cpu),
            console);
    if (m->start) comment(start_in_words(*m->start), console);
    if (!m->failure.empty()) comment(fmt::format("failed: {}", m->failure), console);
  }
  if (entry->parameters) comment(fmt::format("{} parameters", with_commas(*entry->parameters)), console);
  constexpr std::size_t most_shown = 1000;
  std::size_t shown = 0;
  for (const MetricEntry& metric : entry->metrics) {
    if (++shown > most_shown) {
      comment(fmt::format("and {} more metrics (heed export writes all)", entry->metrics.size() - most_shown), console);
      break;
    }
    comment(fmt::format("{} {:.6g} at step {}{}", cut(metric.name), metric.last, metric.step,
                        metric.best && *metric.best != metric.last
                            ? fmt::format(", best {:.6g} at step {}", *metric.best, metric.best_step.value_or(0))
                            : ""),
            console);
  }
}

/// Prints the planned sweep as comments below the reference's configuration: the arms, what each arm changes, and the
/// values that tuning tries for each arm. The data is read only if arms are matched.
void print_sweep(const Settings& settings, const std::string& file, Console& console) {
  Tasks tasks;
  const CostOf cost = [&](const Config& config) { return cost_of(config, tasks); };
  const Plan plan = make_plan(
      settings, [](const Config&) { return std::string(); },
      without_controls(std::filesystem::path(file).stem().string()), cost);
  console.out << "\n";
  comment(fmt::format("[sweep] {}\nseeds: {}", size_in_words(plan), fmt::join(plan.seeds, ", ")), console);
  if (plan.match != "none")
    comment(plan.match == "state"
                ? "match: all arms have a state of equal size, by the width of the model"
                : fmt::format("match: all arms have equal {}, by the width of the feed-forward sublayers", plan.match),
            console);
  if (!plan.within.empty()) comment("within: " + joined(plan.within, ", ", &PlannedOption::key), console);
  TextTable arms{{"arm", "the options that it changes"}, {Align::left, Align::left}, {}};
  for (const Arm& arm : plan.arms)
    arms.rows.push_back({arm.label, arm.changes.empty() ? "nothing" : in_words(arm.changes)});
  if (plan.tuning) {
    comment(fmt::format("[sweep.tune] each arm tries, with the seeds {}:", fmt::join(plan.tuning->seeds, ", ")),
            console);
    for (const TunedOption& option : plan.tuning->options)
      comment(fmt::format("  {} = {}", option.key, fmt::join(option.values, ", ")), console);
  }
  for (const std::string& line : lines_of(to_text(arms))) print(console.out, "#{}\n", line); // they begin with spaces
}

int show(const ShowArguments& given, Console& console) {
  ShowArguments arguments = given;
  ResultOutput output("show", arguments.result);
  const std::optional<RunFolder> run = run_meant(arguments);
  if (run) arguments.config = run->config().string();
  if (output.is("json")) {
    const ShownConfig shown = shown_config(arguments.config, arguments.overrides, run, arguments.diff_from,
                                           arguments.out);
    for (const std::string& note : shown.notes) say(console, "note: " + note);
    output.write_result(shown.result, console);
    return 0;
  }
  if (run && arguments.diff_from.empty()) print_run(*run, console);
  if (arguments.diff_from == "reference") {
    Tasks tasks;
    const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks, arguments.out);
    if (prepared.plan.arms.size() == 1) console.out << "only the reference: the file has no [sweep] with arms\n";
    for (std::size_t i = 1; i < prepared.arms.size(); ++i) {
      print(console.out, "{}{}\n", i > 1 ? "\n" : "", console.out_style.bold(prepared.plan.arms[i].label));
      print_difference(prepared.arms.front().config, prepared.arms[i].config, "arm", "reference", console);
    }
    return 0;
  }
  const Settings settings = load_settings(arguments.config, arguments.overrides);
  const Config config = settings.resolve();
  if (arguments.diff_from == "defaults") {
    print_difference(default_config(), config, "here", "default", console);
    return 0;
  }
  for (const std::string& sentence : settings.dropped()) comment(fmt::format("dropped: {}", sentence), console);
  console.data << to_toml(config);
  if (settings.sweep().present) print_sweep(settings, arguments.config, console);
  return 0;
}

} // namespace

void add_show(Commands& commands) {
  add_command<ShowArguments>(
      commands, "show", "show a resolved config: every option with its value, as TOML",
      "Examples:\n"
      "  heed show configs/quickstart.toml\n"
      "  heed show configs/quickstart.toml --diff-from defaults\n"
      "  heed show configs/quickstart.toml --diff-from reference     what each arm of the sweep changes\n"
      "  heed show 3f2a                                              a run: its outcome and its config\n"
      "Options of variants that the config finally does not use are dropped; comments at the top name them. Comments\n"
      "at the end show a file's [sweep]: its seeds, and what each arm changes. The printed TOML resolves to the same\n"
      "config.",
      [](Command& command, ShowArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.argument("CONFIG").description("the TOML file, or a run: its path, or a unique beginning of its ID");
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
        command.add("--diff-from WHAT", arguments.diff_from, "show only differences from: defaults, reference")
            .one_of({"defaults", "reference"});
        add_result_options(command, arguments.result, {"terminal", "json"});
      },
      show);
}

} // namespace heed
