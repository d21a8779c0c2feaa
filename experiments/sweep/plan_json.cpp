// Converts a plan to and from JSON, the content of plan.json.
#include "experiments/sweep/plan.hpp"

#include "experiments/config/values.hpp"
#include "experiments/data/json_fields.hpp"
#include "experiments/metrics/task_scale.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/sweep/variation_json.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heed {
namespace {

using namespace json_fields;

// Format 3: each run contains its configuration.
constexpr std::int64_t plan_format = 3;
// Format 4: each arm contains the configuration of its runs once, in two parts with the seed between them. In a plan
// with many runs, the configurations would otherwise be most of the file (1.5 kB a run) and of the reading time.
constexpr std::int64_t short_plan_format = 4;
constexpr std::size_t most_in_full = 10'000; ///< maximum number of runs of a plan in format 3

/// The configurations of each arm's runs. Empty if the plan has few runs or a tuning, or if a run's configuration
/// differs from its arm's.
std::optional<std::vector<SeedText>> config_parts_of(const Plan& plan) {
  if (plan.tuning || plan.runs.size() <= most_in_full) return std::nullopt;
  std::vector<SeedText> out;
  for (const Arm& arm : plan.arms) {
    const PlannedRun& first = plan.runs.at(arm.runs.front());
    auto parts = SeedText::around(first.config, first.seed);
    if (!parts) return std::nullopt;
    out.push_back(std::move(*parts));
  }
  const auto fits = [&](const PlannedRun& run) { return run.config == out[run.arm].with(run.seed); };
  return std::ranges::all_of(plan.runs, fits) ? std::optional(std::move(out)) : std::nullopt;
}

std::string parts_hash(const std::vector<SeedText>& parts, const Plan& plan) {
  ContentHash hash;
  if (plan.variation)
    for (const PlannedRun& run : plan.variation->runs) hash.add(fmt::format("run {}\n{}\n", run.id, run.config));
  for (const SeedText& of_arm : parts)
    hash.add(fmt::format("arm {} {}\n{}\n{}\n", of_arm.before.size(), of_arm.after.size(), of_arm.before,
                         of_arm.after));
  return hash.text().substr(0, 12);
}

std::vector<PlannedChange> read_changes(const json::array& changes) {
  std::vector<PlannedChange> out;
  for (const json::value& change : changes) {
    const json::object& pair = as_object(change, "a change");
    out.push_back({text(pair, "key"), text(pair, "value")});
  }
  return out;
}

std::optional<PlannedCost> read_cost(const json::object& object) {
  const json::value* cost = object.if_contains("cost");
  if (!cost) return std::nullopt;
  const json::object& of = as_object(*cost, "\"cost\"");
  PlannedCost out{integer(of, "parameters"), real(of, "flops_per_step"), real(of, "bytes")};
  if (of.contains("state_size")) out.state_size = integer(of, "state_size");
  return out;
}

json::object cost_fields(const PlannedCost& cost) {
  json::object out{{"parameters", cost.parameters}, {"flops_per_step", cost.flops_per_step}, {"bytes", cost.bytes}};
  if (cost.state_size) out["state_size"] = *cost.state_size;
  return out;
}

Arm read_arm(const json::object& object) {
  Arm arm;
  arm.label = text(object, "label");
  arm.changes = read_changes(list(object, "changes"));
  if (const json::value* reference = object.if_contains("reference")) {
    const std::int64_t index = integer(*reference, "reference");
    if (index < 0) throw Wrong{"\"reference\" is below 0"};
    arm.reference = static_cast<std::size_t>(index);
    arm.name = text(object, "name");
    arm.group = texts(object, "group");
  }
  if (const json::value* matched = object.if_contains("matched")) {
    const json::object& of = as_object(*matched, "\"matched\"");
    arm.matched = BudgetMatch{integer(of, "width"), real(of, "amount"), real(of, "target")};
  }
  arm.cost = read_cost(object);
  return arm;
}

SeedText read_parts(const json::object& object) {
  const std::vector<std::string> parts = texts(object, "config");
  if (parts.size() != 2) throw Wrong{"an arm's \"config\" does not have two parts"};
  return {parts[0], parts[1]};
}

/// @param parts  the arms' configurations; empty: each run contains its own
PlannedRun read_run(const json::object& object, std::size_t arms, const std::vector<SeedText>& parts) {
  PlannedRun run;
  run.id = text(object, "id");
  run.seed = integer(object, "seed");
  const std::int64_t arm = integer(object, "arm");
  if (arm < 0 || static_cast<std::uint64_t>(arm) >= arms)
    throw Wrong{fmt::format("run {} belongs to arm {} of {}", cut(run.id), arm, arms)};
  run.arm = static_cast<std::size_t>(arm);
  // The ID is used as the name of a folder.
  if (!is_run_id(run.id)) throw Wrong{fmt::format("{} is not the ID of a run", json_text(cut(run.id)))};
  run.config = parts.empty() ? text(object, "config") : parts.at(run.arm).with(run.seed);
  return run;
}

std::vector<PlannedRun> read_runs(const json::object& object, std::string_view key, std::size_t arms,
                                  const std::vector<SeedText>& parts = {}) {
  std::vector<PlannedRun> out;
  for (const json::value& run : list(object, key)) out.push_back(read_run(as_object(run, "a run"), arms, parts));
  return out;
}

/// Checks that a trial sets exactly the tuned options, with values on the grid.
void check_point(const std::vector<PlannedChange>& point, const std::vector<TunedOption>& options) {
  const auto on_grid = [](const PlannedChange& change, const TunedOption& option) {
    return change.key == option.key && std::ranges::find(option.values, change.value) != option.values.end();
  };
  if (!std::ranges::equal(point, options, on_grid))
    throw Wrong{"a trial's point is not one of the tuned options' grid"};
}

/// Checks that these are the arm's runs with exactly these seeds.
void check_runs(const std::vector<const PlannedRun*>& runs, std::size_t arm, const std::vector<std::int64_t>& seeds) {
  const auto belongs = [&](const PlannedRun* run, std::int64_t seed) { return run->arm == arm && run->seed == seed; };
  if (!std::ranges::equal(runs, seeds, belongs)) throw Wrong{"a trial lacks the run of a seed"};
}

Tuning read_tuning(const json::object& object, std::size_t arms, const std::vector<std::int64_t>& seeds) {
  Tuning tuning;
  for (const json::value& seed : list(object, "seeds")) tuning.seeds.push_back(integer(seed, "seeds"));
  for (const json::value& value : list(object, "options")) {
    const json::object& option = as_object(value, "a tuned option");
    tuning.options.push_back({text(option, "key"), texts(option, "values"), boolean(option, "ordered")});
  }
  if (tuning.seeds.empty() || tuning.options.empty()) throw Wrong{"its tuning has no seeds, or no options"};
  tuning.runs = read_runs(object, "runs", arms);
  std::vector<int> trials_of_run(tuning.runs.size());
  for (const json::value& of_arm : list(object, "trials")) {
    const json::array* trials = of_arm.if_array();
    if (!trials || trials->empty()) throw Wrong{"an arm has no trials"};
    tuning.arms.emplace_back();
    for (const json::value& value : *trials) {
      const json::object& trial = as_object(value, "a trial");
      Trial out;
      out.point = read_changes(list(trial, "point"));
      out.replicates = read_runs(trial, "replicates", arms);
      out.cost = read_cost(trial);
      check_point(out.point, tuning.options);
      std::vector<const PlannedRun*> trial_runs, replicates;
      for (const json::value& index : list(trial, "runs")) {
        const std::int64_t run = integer(index, "runs");
        if (run < 0 || static_cast<std::size_t>(run) >= tuning.runs.size())
          throw Wrong{fmt::format("a trial has run {} of {}", run, tuning.runs.size())};
        out.runs.push_back(static_cast<std::size_t>(run));
        trial_runs.push_back(&tuning.runs[out.runs.back()]);
        ++trials_of_run[out.runs.back()];
      }
      for (const PlannedRun& run : out.replicates) replicates.push_back(&run);
      check_runs(trial_runs, tuning.arms.size() - 1, tuning.seeds);
      check_runs(replicates, tuning.arms.size() - 1, seeds);
      tuning.arms.back().trials.push_back(std::move(out));
    }
  }
  if (std::ranges::count(trials_of_run, 1) != std::ssize(tuning.runs))
    throw Wrong{"a run of the tuning does not belong to just one trial"};
  if (tuning.arms.size() != arms) throw Wrong{fmt::format("{} of {} arms have trials", tuning.arms.size(), arms)};
  return tuning;
}

/// The hash of all runs' configurations. It is not part of a plan's own hash, because options that cannot change a
/// result may differ.
std::string configs_hash(const Plan& plan) {
  ContentHash hash;
  const auto add = [&](const std::vector<PlannedRun>& runs) {
    for (const PlannedRun& run : runs) hash.add(fmt::format("run {}\n{}\n", run.id, run.config));
  };
  if (plan.variation) add(plan.variation->runs);
  if (!plan.tuning) add(plan.runs);
  else {
    add(plan.tuning->runs);
    for (const ArmTuning& arm : plan.tuning->arms)
      for (const Trial& trial : arm.trials) add(trial.replicates);
  }
  return hash.text().substr(0, 12);
}

/// The hash of the record of when a plan was frozen.
std::string frozen_hash(const Plan& plan, const Frozen& frozen) {
  return content_hash(fmt::format("{} {} {} {}", plan.hash, frozen.at, frozen.finished, frozen.runs)).substr(0, 12);
}

constexpr std::string_view checksum_key = ",\n\"checksum\": ";

/// The checksum of the part of a plan's file before it.
std::string checksum_of(std::string_view bytes) {
  return content_hash(bytes.substr(0, bytes.rfind(checksum_key))).substr(0, 12);
}

Frozen read_frozen(const json::object& object, const Plan& plan) {
  const auto count = [&](std::string_view key) {
    const std::int64_t n = integer(object, key);
    if (n < 0) throw Wrong{fmt::format("\"{}\" is below 0", key)};
    return static_cast<std::size_t>(n);
  };
  Frozen frozen{text(object, "at"), count("finished"), count("runs")};
  if (object.contains("kernels")) frozen.kernels = text(object, "kernels");
  if (!frozen.kernels.empty() && !is_instruction_set_name(frozen.kernels))
    throw Wrong{fmt::format("{} is not the name of kernels", json_text(cut(frozen.kernels)))};
  if (text(object, "hash") != frozen_hash(plan, frozen)) throw Wrong{"its \"frozen\" was edited"};
  return frozen;
}

/// Another version of Heed wrote the plan.
struct OtherFormat {
  std::string why; ///< a sentence without its subject
};

Plan read(std::string_view bytes) {
  const json::value whole = parsed(bytes);
  const json::object& object = as_object(whole, "it");
  const std::int64_t format = integer(object, "format");
  if (format != plan_format && format != short_plan_format)
    throw OtherFormat{
        fmt::format("has the format {}, and this version of Heed reads {} and {}: another version wrote it", format,
                    plan_format, short_plan_format)};

  Plan plan;
  plan.name = text(object, "name");
  plan.hash = text(object, "hash");
  plan.metric = text(object, "metric");
  if (object.contains("also")) plan.also = texts(object, "also");
  if (object.contains("match")) plan.match = text(object, "match");
  if (object.contains("reference")) plan.reference_name = text(object, "reference");
  if (const json::value* margin = object.if_contains("margin")) {
    plan.margin = real(*margin, "margin");
    if (!(*plan.margin > 0)) throw Wrong{"\"margin\" is not a number above 0"};
  }
  if (object.contains("answer")) plan.answer = text(object, "answer");
  if (plan.answer != "same" && (plan.answer != "not worse" || !plan.margin))
    throw Wrong{"\"answer\" is not \"not worse\" with a margin"};
  if (object.contains("test")) plan.test = text(object, "test");
  if (plan.test != "paired" && plan.test != "unpaired") throw Wrong{"\"test\" is neither paired nor unpaired"};
  if (object.contains("over")) plan.over = text(object, "over");
  if (object.contains("scale")) plan.scale = text(object, "scale");
  if (plan.over != "none" && plan.over != "these tasks" && plan.over != "tasks like these")
    throw Wrong{"\"over\" is neither these tasks nor tasks like these"};
  try {
    units_of_scale(plan.scale, "\"scale\"");
  } catch (const Refused& error) {
    throw Wrong{error.what()};
  }
  if (const json::value* learned = object.if_contains("learned")) plan.learned = real(*learned, "learned");
  if (object.contains("question")) plan.question = text(object, "question");
  if (const json::value* examples = object.if_contains("examples")) plan.examples = boolean(*examples, "examples");
  if (const json::value* labels = object.if_contains("labels"))
    for (const auto& [name, label] : as_object(*labels, "\"labels\""))
      plan.labels[std::string(name)] = text(label, "labels");
  plan.sweep = boolean(object, "sweep");
  for (const json::value& seed : list(object, "seeds")) plan.seeds.push_back(integer(seed, "seeds"));
  if (object.contains("looks"))
    for (const json::value& look : list(object, "looks")) {
      const std::int64_t n = integer(look, "looks");
      if (n < 2 || (!plan.looks.empty() && static_cast<std::size_t>(n) <= plan.looks.back()))
        throw Wrong{"\"looks\" are not rising numbers of seeds"};
      plan.looks.push_back(static_cast<std::size_t>(n));
    }
  if (!plan.looks.empty() && plan.looks.back() != plan.seeds.size())
    throw Wrong{"the last of \"looks\" is not of all seeds"};
  if (const json::value* within = object.if_contains("within"))
    for (const json::value& value : list(*within, "within")) {
      const json::object& option = as_object(value, "an option of \"within\"");
      plan.within.push_back({text(option, "key"), text(option, "name")});
    }
  std::vector<SeedText> parts;
  for (const json::value& arm : list(object, "arms")) {
    plan.arms.push_back(read_arm(as_object(arm, "an arm")));
    if (format == short_plan_format) parts.push_back(read_parts(arm.get_object()));
  }
  for (const Arm& arm : plan.arms)
    if (arm.reference >= plan.arms.size() || plan.arms[arm.reference].reference != arm.reference ||
        arm.group.size() != plan.within.size())
      throw Wrong{fmt::format("arm \"{}\" has no reference in its group", cut(arm.label))};
  plan.runs = read_runs(object, "runs", plan.arms.size(), parts);
  if (const json::value* tuning = object.if_contains("tuning")) {
    plan.tuning = read_tuning(as_object(*tuning, "\"tuning\""), plan.arms.size(), plan.seeds);
    apply_choices(plan);
  }

  if (const json::value* variation = object.if_contains("variation"))
    plan.variation = read_variation(as_object(*variation, "\"variation\""), plan, [&](const json::object& object) {
      return read_runs(object, "runs", plan.arms.size());
    });

  for (std::size_t i = 0; i < plan.runs.size(); ++i) plan.arms[plan.runs[i].arm].runs.push_back(i);
  for (const Arm& arm : plan.arms)
    if (arm.runs.size() != plan.seeds.size())
      throw Wrong{
          fmt::format("arm \"{}\" has {} runs for {} seeds", cut(arm.label), arm.runs.size(), plan.seeds.size())};
  if (plan.runs.empty()) throw Wrong{"it has no runs"};
  if (const std::string hash = hash_of(plan); hash != plan.hash)
    throw Wrong{fmt::format("its hash is {}, its content's {}: it was edited", cut(plan.hash), hash)};
  if (const json::value* frozen = object.if_contains("frozen"))
    plan.frozen = read_frozen(as_object(*frozen, "\"frozen\""), plan);
  const std::string hash = parts.empty() ? configs_hash(plan) : parts_hash(parts, plan);
  if (const std::string stated = text(object, "configs"); stated != hash)
    throw Wrong{
        fmt::format("its \"configs\" is {}, its content's {}: a run's configuration was edited", cut(stated), hash)};
  if (const std::string stated = text(object, "checksum"), sum = checksum_of(bytes); stated != sum)
    throw Wrong{fmt::format("its checksum is {}, its content's {}: it was edited", cut(stated), sum)};
  return plan;
}

/// One line "KEY": VALUE of an object with one member on each line.
template <class T> std::string line(std::string_view key, const T& value) {
  return fmt::format("{}: {},\n", json_text(key), one_line(json::value_from(value)));
}

/// The runs as a list with one run on each line.
std::string runs_json(const std::vector<PlannedRun>& runs, bool with_config = true) {
  std::string out = "[";
  const char* between = "\n";
  for (const PlannedRun& run : runs) {
    json::object fields{{"id", run.id}, {"arm", run.arm}, {"seed", run.seed}};
    if (with_config) fields["config"] = run.config;
    out.append(between).append("  ").append(one_line(fields));
    between = ",\n";
  }
  return out + "\n]";
}

std::string trial_json(const Trial& trial) {
  json::object fields{{"point", json::value_from(trial.point)}, {"runs", json::value_from(trial.runs)}};
  if (trial.cost) fields["cost"] = cost_fields(*trial.cost);
  std::string out = one_line(fields);
  out.pop_back(); // removes the brace: the replicates follow, one on each line
  return out + ", \"replicates\": " + runs_json(trial.replicates) + "}";
}

std::string tuning_json(const Tuning& tuning) {
  std::vector<std::string> arms;
  for (const ArmTuning& arm : tuning.arms) {
    std::vector<std::string> trials;
    for (const Trial& trial : arm.trials) trials.push_back(trial_json(trial));
    arms.push_back(fmt::format("[\n{}]", fmt::join(trials, ",\n")));
  }
  return "{\n" + line("seeds", tuning.seeds) + line("options", tuning.options) +
         fmt::format("\"trials\": [{}],\n\"runs\": {}\n}}", fmt::join(arms, ",\n"), runs_json(tuning.runs));
}

json::object arm_fields(const Arm& arm, const Plan& plan) {
  json::object fields{{"label", arm.label}, {"changes", json::value_from(arm.changes)}};
  if (!plan.within.empty()) {
    fields["reference"] = arm.reference;
    fields["group"] = json::value_from(arm.group);
    fields["name"] = arm.name;
  }
  if (arm.matched) fields["matched"] = json::value_from(*arm.matched);
  if (arm.cost) fields["cost"] = cost_fields(*arm.cost);
  return fields;
}

} // namespace

std::string to_json(const Plan& plan) {
  const std::optional<std::vector<SeedText>> parts = config_parts_of(plan);
  std::string out = "{\n" + line("format", parts ? short_plan_format : plan_format) + line("name", plan.name) +
                    line("hash", plan.hash) + line("configs", parts ? parts_hash(*parts, plan) : configs_hash(plan)) +
                    line("metric", plan.metric);
  if (!plan.also.empty()) out += line("also", plan.also);
  if (plan.margin) out += line("margin", *plan.margin);
  if (plan.asks_not_worse()) out += line("answer", plan.answer);
  if (plan.test != "paired") out += line("test", plan.test);
  if (plan.answers_over_tasks()) out += line("over", plan.over) + line("scale", plan.scale);
  if (plan.learned) out += line("learned", *plan.learned);
  if (!plan.question.empty()) out += line("question", plan.question);
  if (plan.examples) out += line("examples", plan.examples);
  if (!plan.reference_name.empty()) out += line("reference", plan.reference_name);
  if (!plan.labels.empty()) out += line("labels", plan.labels);
  if (!plan.within.empty()) out += line("within", plan.within);
  out += line("match", plan.match) + line("sweep", plan.sweep) + line("seeds", plan.seeds);
  if (!plan.looks.empty()) out += line("looks", plan.looks);
  out += "\"arms\": [";
  const char* between = "\n";
  for (std::size_t a = 0; a < plan.arms.size(); ++a) {
    json::object fields = arm_fields(plan.arms[a], plan);
    if (parts) fields["config"] = json::array{json::string(parts->at(a).before), json::string(parts->at(a).after)};
    out.append(between).append("  ").append(one_line(fields));
    between = ",\n";
  }
  // A tuned sweep has no runs here: they are among its trials' replicates, because the choice is made later.
  out += fmt::format("\n],\n\"runs\": {}", plan.tuning ? "[]" : runs_json(plan.runs, !parts));
  if (plan.tuning) out += fmt::format(",\n\"tuning\": {}", tuning_json(*plan.tuning));
  if (plan.variation)
    out += fmt::format(",\n\"variation\": {}", variation_json(*plan.variation, runs_json(plan.variation->runs)));
  if (const auto& frozen = plan.frozen)
    out += ",\n\"frozen\": " + one_line(json::object{{"at", frozen->at},
                                                     {"finished", frozen->finished},
                                                     {"runs", frozen->runs},
                                                     {"kernels", frozen->kernels},
                                                     {"hash", frozen_hash(plan, *frozen)}});
  return out + std::string(checksum_key) + json_text(checksum_of(out)) + "\n}\n";
}

Parsed<Plan> plan_from_json(std::string_view bytes) {
  try {
    return Parsed<Plan>::ok(read(bytes));
  } catch (const Wrong& wrong) {
    return Parsed<Plan>::wrong(wrong.why);
  } catch (const OtherFormat& other) {
    return Parsed<Plan>::wrong(other.why, ReadProblem::other_format);
  }
}

} // namespace heed
