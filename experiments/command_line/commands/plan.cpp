// heed plan: shows the runs that a configuration would execute, and their cost: parameters, FLOPs, memory, time, state.
#include "experiments/actions/plan_estimate.hpp"
#include "experiments/actions/plan_result.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/data/csv.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/seed_advice.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/variation.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/text.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {

namespace {

struct PlanArguments {
  std::string config, out = "runs", record;
  std::vector<std::string> overrides;
  int jobs = 0, threads = 0;
  bool no_probe = false;
  ResultOptions result;
  std::optional<double> effect;
};

/// Does the arm's name already state everything that the arm changes, such as "score = dot"?
bool says_it_all(const Arm& arm) {
  return arm.changes.empty() || (arm.changes.size() == 1 && arm.label.ends_with("= " + arm.changes.front().value));
}

std::string tuning_of(const Tuning& tuning) {
  const auto option_text = [](const TunedOption& option) {
    return fmt::format("{} from {}", option.key, fmt::join(option.values, ", "));
  };
  return fmt::format("{}, with seed{} {}", joined(tuning.options, "; ", option_text), plural(tuning.seeds.size()),
                     fmt::join(tuning.seeds, ", "));
}

void write_text(const Preparation& prepared, const Estimate& e, const PlanArguments& arguments, Console& console) {
  const Plan& plan = prepared.plan;
  TextTable table{{"arm", "runs", "parameters", "FLOPs/step", "steps", "memory", "time/run"},
                  {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right},
                  {}};
  // In a sweep, only if it differs: the table of a sweep is wide.
  const std::optional<std::int64_t> state = prepared.arms.front().cost.state_size;
  const bool states = prepared.arms.size() == 1 ? state.has_value()
                                                : std::ranges::any_of(prepared.arms, [&](const PreparedArm& arm) {
                                                    return arm.cost.state_size != state;
                                                  });
  if (states) table.add_column("state", Align::right);
  const std::vector<std::string> labels = named_labels(plan, prepared.arms.front().config);
  for (std::size_t i = 0; i < plan.arms.size(); ++i) {
    const PreparedArm& arm = prepared.arms[i];
    const Cost& cost = arm.cost;
    table.rows.push_back({labels[i], fmt::format("{}", plan.arms[i].runs.size()), with_commas(cost.parameters),
                          scaled(cost.flops_per_step, ""), with_commas(arm.config.train.steps),
                          scaled(cost.bytes(e.share.threads), "B"),
                          e.arm_seconds.empty() ? "-" : "~ " + duration(e.arm_seconds[i])});
    if (states) table.rows.back().push_back(cost.state_size ? with_commas(*cost.state_size) : "-");
  }
  print(console.out, "{}  {}, compared by {} ({})\n\n", console.out_style.bold(plan.name), size_in_words(plan),
        prepared.metric.name, in_words(prepared.metric.direction));
  console.out << to_text(table) << "\n";
  bool explained = false;
  for (const Arm& arm : plan.arms) {
    if (!says_it_all(arm)) {
      print(console.out, "  {}: {}\n", arm.label, in_words(arm.changes));
      explained = true;
    }
    if (arm.matched && std::abs(arm.matched->excess()) > matched_enough) {
      print(console.out, "  {}: not matched, its {} {:+.1f} % from the reference's\n", arm.label,
            plan.match == "flops"   ? "FLOPs are"
            : plan.match == "state" ? "state is"
                                    : "parameters are",
            100 * arm.matched->excess());
      explained = true;
    }
  }
  if (explained) console.out << "\n";

  if (plan.tuning) print(console.out, "  tuning   each arm chooses its own {}\n", tuning_of(*plan.tuning));
  if (const auto& variation = plan.variation)
    print(console.out, "  vary     {}: {} values of each in {} of the others, {} of the reference\n",
          fmt::join(variation->sources, ", "), variation->values, counted(variation->fixings.size(), "fixing"),
          counted(variation->runs.size(), "further run"));
  print(console.out, "  to do    {} of {} runs ({} finished in the folder {}), {}\n", e.to_do(), e.runs.size(),
        e.finished, arguments.out, scaled(e.flops, "FLOPs"));
  const int useful = useful_threads(prepared);
  if (e.to_do() > 0)
    print(console.out, "  machine  {} at a time, {} each (a run can use {}), about {} of memory together\n",
          counted(static_cast<std::size_t>(e.share.jobs), "run"), threads_in_words(e.share),
          useful == 1 ? "one" : fmt::format("up to {}", useful), scaled(e.bytes, "B"));
  if (e.seconds)
    print(console.out, "  time     about {}, measured on some steps of each arm; evaluations take additional time\n",
          duration(*e.seconds));
  console.out << seed_advice(plan, arguments.effect);
}

std::string plan_csv(const Preparation& prepared, const Estimate& e) {
  std::string out = "stage,arm,seed,run,state,changes,parameters,flops_per_step,steps,memory_bytes,seconds,"
                    "state_size\n";
  const VariationLabels variation(prepared.plan);
  for (const EstimatedRun& run : e.runs) {
    const Arm& planned = prepared.plan.arms.at(run.run->arm);
    std::vector<PlannedChange> changes = planned.changes;
    if (run.trial) changes.insert(changes.end(), run.trial->point.begin(), run.trial->point.end());
    const auto number = [](auto value) { return fmt::format("{}", value); };
    out += sheet_line({stage_of(run, variation), planned.label, number(run.run->seed), run.run->id,
                       std::string(name_of(run.state)), in_words(changes), number(run.load.cost.parameters),
                       number(run.load.cost.flops_per_step), number(run.load.steps),
                       fmt::format("{:.0f}", run.load.cost.bytes(e.share.threads)),
                       e.seconds ? fmt::format("{:.3g}", run.seconds) : "",
                       run.load.cost.state_size ? number(*run.load.cost.state_size) : ""});
  }
  return out;
}

void register_plan(const Plan& plan, const Estimate& e, const PlanArguments& arguments, Console& console) {
  write_file(arguments.record, registration(plan, e));
  const std::string known = e.finished == 0
                                ? ""
                                : fmt::format("{} of its {} runs {} finished in {} already, and the file says so. ",
                                              e.finished, e.runs.size(), e.finished == 1 ? "is" : "are", arguments.out);
  console.out << wrapped(fmt::format("{} is plan {}, written to {}. {}Every report of the sweep, {}, shows this hash.",
                                     plan.name, plan.hash, arguments.record, known, plan.folder_name()),
                         104);
}

/// Throws heed::Refused if the file of --register exists. Called before any other file is read or any time is measured.
void check_record(const std::string& file) {
  std::error_code error;
  if (!file.empty() && std::filesystem::exists(std::filesystem::symlink_status(file, error)))
    throw Refused(fmt::format("--register: '{}' exists already, and a registration is never overwritten; name another "
                              "file, or move this one away",
                              file));
}

int plan(const PlanArguments& arguments, Console& console) {
  check_record(arguments.record);
  ResultOutput output("plan", arguments.result);
  if (!arguments.record.empty() && !output.is("terminal"))
    throw Refused(
        "plan: --register only writes the plan's record, so it prints no result; leave out --format, --json and --csv");
  if (arguments.effect && output.is("csv"))
    throw Refused("plan: --effect does nothing with --format csv, which has runs only; leave it out");
  Tasks tasks;
  Preparation prepared = prepare(arguments.config, arguments.overrides, tasks, arguments.out);
  check_sense(prepared, arguments.out, console);
  if (prepared.plan.tuning && is_frozen(prepared.plan, arguments.out)) // it may have tuned values
    prepared.plan = load_plan(std::filesystem::path(arguments.out) / "sweeps" / prepared.plan.folder_name());
  const bool probe = !arguments.no_probe && arguments.record.empty();
  const Estimate e = estimate(prepared, tasks, arguments.out, arguments.jobs, arguments.threads, probe);
  if (!arguments.record.empty()) register_plan(prepared.plan, e, arguments, console);
  else if (output.is("csv")) output.write(plan_csv(prepared, e), console);
  else if (output.is("json")) output.write_result(plan_result(prepared, e, arguments.effect), console);
  else write_text(prepared, e, arguments, console);
  return 0;
}

} // namespace

void add_plan(Commands& commands) {
  add_command<PlanArguments>(
      commands, "plan",
      "show the runs of a config before training: number, parameters, FLOPs, memory, time, state; saves nothing",
      "Examples:\n"
      "  heed plan configs/quickstart.toml\n"
      "  heed plan configs/quickstart.toml train.steps=5000 --no-probe\n"
      "  heed plan configs/quickstart.toml --no-probe --csv --output plan.csv\n"
      "  heed plan configs/quickstart.toml --register plan.json\n"
      "To measure the time, a few steps of each arm are trained. The state is how many numbers decoding\n"
      "stores for one sequence, once the longest one is read. A sweep's table has it if arms differ in it.",
      [](Command& command, PlanArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add("--out FOLDER", arguments.out, "the folder whose finished runs count as done [runs]");
        command.add("--jobs", arguments.jobs, "run at most N at the same time [as the machine allows]").within(1, 4096);
        command.add("--threads", arguments.threads, "threads of each run [1, more if there are fewer runs than cores]")
            .within(1, 4096);
        command
            .add("--effect", arguments.effect,
                 "show the seeds that this effect needs, and the power to find it; in standard deviations of the "
                 "differences [0.5, 1, 1.5, 2]")
            .within(0.01, 1000.0);
        command.add_flag("--no-probe", arguments.no_probe, "do not measure the time");
        add_result_options(command, arguments.result, {"terminal", "json", "csv"});
        command.add("--register FILE", arguments.record,
                    "only write the plan, its hash and the current time to a new file, for a preregistration");
      },
      plan);
}

} // namespace heed
