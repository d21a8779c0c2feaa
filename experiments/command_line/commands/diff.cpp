// heed diff: compares two runs, or a run and a configuration: options, metrics, and how the runs were made.
#include "experiments/actions/difference_of_runs.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heed {

namespace {

struct DiffArguments {
  std::string a, b, out = "runs";
  ResultOptions result;
};

std::string value_text(std::optional<double> value) { return value ? fmt::format("{:.6g}", *value) : "-"; }
std::string change_text(std::optional<double> change) {
  return !change ? "-" : *change == 0 ? "0" : fmt::format("{:+.6g}", *change);
}
std::string step_text(const DiffMetric& metric) {
  if (!metric.a_step || !metric.b_step || *metric.a_step == *metric.b_step)
    return fmt::format("{}", metric.a_step ? *metric.a_step : metric.b_step.value_or(0));
  return fmt::format("{} / {}", *metric.a_step, *metric.b_step);
}
std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

void print_side(const std::string& letter, const DiffSide& side, Console& console) {
  console.out << "  " << letter << "  " << side.file.value_or(side.run.value_or(""));
  if (side.run)
    console.out << fmt::format("  {}, seed {}, {}", side.name.value_or(""), side.seed.value_or(0),
                               side.state.value_or(""));
  console.out << "\n";
}

void print_text(const DiffResult& found, Console& console) {
  print_side("a", found.a, console);
  print_side("b", found.b, console);
  TextTable options{{"option", "a", "b"}, {Align::left, Align::left, Align::left}, {}};
  for (const DiffOption& d : found.options) options.rows.push_back({d.key, d.a.value_or("-"), d.b.value_or("-")});
  console.out << "\n" << (options.rows.empty() ? "  the same options\n" : to_text(options));
  if (!found.a.run || !found.b.run) return;

  TextTable metrics{
      {"metric", "a", "b", "b - a", "step"}, {Align::left, Align::right, Align::right, Align::right, Align::right}, {}};
  constexpr std::size_t most_shown = 1000;
  for (const DiffMetric& m : std::span(found.metrics).first(std::min(most_shown, found.metrics.size())))
    metrics.rows.push_back({cut(m.name), value_text(m.a), value_text(m.b), change_text(m.difference), step_text(m)});
  console.out << "\n" << (metrics.rows.empty() ? "  no metrics yet\n" : to_text(metrics));
  if (found.metrics.size() > most_shown)
    console.out << fmt::format("  and {} more metrics (--json has all)\n", found.metrics.size() - most_shown);

  TextTable machine{{"made with", "a", "b"}, {Align::left, Align::left, Align::left}, {}};
  for (const DiffMachine& d : found.machine) machine.rows.push_back({d.what, or_dash(d.a), or_dash(d.b)});
  console.out << "\n"
              << (machine.rows.empty() ? "  made with the same program on the same machine\n" : to_text(machine));
}

int diff(const DiffArguments& arguments, Console& console) {
  ResultOutput output("diff", arguments.result);
  const DiffResult found = difference_of(arguments.a, arguments.b, arguments.out);
  if (output.is("json")) output.write_result(found, console);
  else print_text(found, console);
  return 0;
}

} // namespace

void add_diff(Commands& commands) {
  add_command<DiffArguments>(
      commands, "diff", "compare two runs: options that differ, metrics, program and machine",
      "Examples:\n"
      "  heed diff 3f2a 9c01\n"
      "  heed diff 3f2a configs/quickstart.toml     what the file would change\n"
      "A and B are runs (the path of a run's folder, or a unique beginning of its ID) or configs. Of a config, the\n"
      "reference is compared. Metrics are the last values.",
      [](Command& command, DiffArguments& arguments) {
        command.add("A", arguments.a, "a run, or a TOML file").required();
        command.add("B", arguments.b, "another").required();
        add_result_options(command, arguments.result, {"terminal", "json"});
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
      },
      diff);
}

} // namespace heed
