// heed diff: compares two runs, or a run and a configuration: options, metrics, and how the runs were made.
#include "experiments/actions/results.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/config.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/report/indented_json.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/runs/run_comparison.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/system/text.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <span>

namespace heed {

namespace {

struct DiffArguments {
  std::string a, b, out = "runs";
  ResultOptions result;
};

/// One of the two runs or configurations that are compared.
struct Side {
  std::string title; ///< the run's ID, or the file's name
  Config config;
  std::optional<RunEntry> run; ///< empty if this side is a file
};

Side side_of(const std::string& word, const std::string& out) {
  std::error_code error;
  if (word.ends_with(".toml") && !std::filesystem::is_directory(word, error))
    return {word, load_settings(word, {}).resolve(), std::nullopt};
  const RunFolder run = find_run(out, word);
  auto entry = read_entry(run);
  if (!entry) throw Refused(fmt::format("run {} is unusable: {}", run.id(), entry.error));
  return {run.id(), read_config(run), std::move(*entry)};
}

struct MetricPair {
  std::string name;
  const MetricEntry *a = nullptr, *b = nullptr;
};

/// The metrics of both runs: first the metrics of `a` in their order, then the metrics that only `b` has.
std::vector<MetricPair> metric_pairs(const Side& a, const Side& b) {
  std::vector<MetricPair> out;
  if (!a.run || !b.run) return out;
  std::map<std::string_view, std::size_t> places;
  for (const MetricEntry& m : a.run->metrics) {
    places.emplace(m.name, out.size());
    out.push_back({m.name, &m, nullptr});
  }
  for (const MetricEntry& m : b.run->metrics) {
    const auto same = places.find(m.name);
    if (same == places.end()) out.push_back({m.name, nullptr, &m});
    else out[same->second].b = &m;
  }
  return out;
}

std::vector<MachineDifference> machines(const Side& a, const Side& b) {
  if (!a.run || !b.run || !a.run->manifest || !b.run->manifest) return {};
  return machine_differences(*a.run->manifest, *b.run->manifest);
}

std::string value_text(const MetricEntry* metric) { return metric ? fmt::format("{:.6g}", metric->last) : "-"; }
std::string change_text(double change) { return change == 0 ? "0" : fmt::format("{:+.6g}", change); }
std::string step_text(const MetricPair& pair) {
  if (!pair.a || !pair.b || pair.a->step == pair.b->step)
    return fmt::format("{}", pair.a ? pair.a->step : pair.b->step);
  return fmt::format("{} / {}", pair.a->step, pair.b->step);
}

DiffSide about(const Side& side) {
  if (!side.run) return {.file = side.title};
  return {.run = side.title, .name = side.config.general.name, .state = std::string(name_of(side.run->state))};
}

std::optional<std::string> text_or_none(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

DiffResult result_of(const Side& a, const Side& b) {
  DiffResult out{.a = about(a), .b = about(b)};
  for (const Difference& d : difference(a.config, b.config))
    out.options.push_back({d.key, text_or_none(d.a), text_or_none(d.b)});
  for (const MetricPair& pair : metric_pairs(a, b)) {
    DiffMetric& metric = out.metrics.emplace_back(DiffMetric{.name = pair.name});
    if (pair.a) metric.a = pair.a->last, metric.a_step = pair.a->step;
    if (pair.b) metric.b = pair.b->last, metric.b_step = pair.b->step;
    if (pair.a && pair.b) metric.difference = pair.b->last - pair.a->last;
  }
  for (const MachineDifference& d : machines(a, b)) out.machine.push_back({d.what, d.a, d.b});
  return out;
}

void print_side(const std::string& letter, const Side& side, Console& console) {
  console.out << "  " << letter << "  " << side.title;
  if (side.run)
    console.out << fmt::format("  {}, seed {}, {}", side.config.general.name, side.config.general.seed,
                               name_of(side.run->state));
  console.out << "\n";
}

void print_text(const Side& a, const Side& b, Console& console) {
  print_side("a", a, console);
  print_side("b", b, console);
  TextTable options{{"option", "a", "b"}, {Align::left, Align::left, Align::left}, {}};
  for (const Difference& d : difference(a.config, b.config))
    options.rows.push_back({d.key, d.a.empty() ? "-" : d.a, d.b.empty() ? "-" : d.b});
  console.out << "\n" << (options.rows.empty() ? "  the same options\n" : to_text(options));
  if (!a.run || !b.run) return;

  TextTable metrics{
      {"metric", "a", "b", "b - a", "step"}, {Align::left, Align::right, Align::right, Align::right, Align::right}, {}};
  constexpr std::size_t most_shown = 1000;
  const std::vector<MetricPair> pairs = metric_pairs(a, b);
  for (const MetricPair& pair : std::span(pairs).first(std::min(most_shown, pairs.size())))
    metrics.rows.push_back({cut(pair.name), value_text(pair.a), value_text(pair.b),
                            pair.a && pair.b ? change_text(pair.b->last - pair.a->last) : "-", step_text(pair)});
  console.out << "\n" << (metrics.rows.empty() ? "  no metrics yet\n" : to_text(metrics));
  if (pairs.size() > most_shown)
    console.out << fmt::format("  and {} more metrics (--json has all)\n", pairs.size() - most_shown);

  TextTable machine{{"made with", "a", "b"}, {Align::left, Align::left, Align::left}, {}};
  for (const MachineDifference& d : machines(a, b))
    machine.rows.push_back({d.what, d.a.empty() ? "-" : d.a, d.b.empty() ? "-" : d.b});
  console.out << "\n"
              << (machine.rows.empty() ? "  made with the same program on the same machine\n" : to_text(machine));
}

int diff(const DiffArguments& arguments, Console& console) {
  ResultOutput output("diff", arguments.result);
  const Side a = side_of(arguments.a, arguments.out), b = side_of(arguments.b, arguments.out);
  if (output.is("json")) output.write_result(result_of(a, b), console);
  else print_text(a, b, console);
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
