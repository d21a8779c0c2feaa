#include "experiments/sweep/tuning.hpp"

#include "experiments/config/block_keys.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/json_fields.hpp"
#include "experiments/index/run_entry.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace heed {
namespace {

namespace fs = std::filesystem;
using namespace json_fields;

constexpr std::int64_t choices_format = 1;

OutputFile choices_file(const fs::path& folder) { return file_of_sweep(folder, "tuned.json"); }

Direction direction_in(const Plan& plan) {
  const auto metric = metric_named(config_of(plan.tuning->runs.front()), plan.metric);
  if (!metric) return Direction::lower;
  // a plan from elsewhere may name a metric without a better direction
  return metric->is_goal() ? metric->direction : Direction::higher;
}

/// Evaluates a trial. Returns whether all its runs have finished or failed, in folders that can be trusted; it then has
/// a value or a problem.
bool look_at(Trial& trial, const Plan& plan, const fs::path& out) {
  double sum = 0;
  std::string problem;
  trial.value.reset();
  trial.problem.clear();
  trial.is_damaged = false;
  for (const std::size_t index : trial.runs) {
    const PlannedRun& planned = plan.tuning->runs.at(index);
    const RunFolder run{out / planned.id};
    const auto entry = read_entry(run);
    require_readable(entry); // a temporary read error must not permanently change the choice
    if (!entry) {
      trial.is_damaged = has_ended(state_of(run));
      if (trial.is_damaged) trial.problem = fmt::format("'{}': {}", run.path.string(), entry.error);
      return false;
    }
    if (!has_ended(entry->state)) return false;
    const MetricEntry* metric = entry->metric(plan.metric);
    if (entry->state == RunState::failed)
      problem = fmt::format("seed {} failed: {}", planned.seed, entry->manifest->failure);
    else if (metric && std::isfinite(metric->last)) sum += metric->last;
    else problem = fmt::format("seed {} has no {}", planned.seed, plan.metric);
  }
  if (problem.empty()) trial.value = sum / static_cast<double>(trial.runs.size());
  trial.problem = std::move(problem);
  return true;
}

/// Evaluates all trials of an arm. Returns whether each has a value or a problem.
bool look_at(ArmTuning& arm, const Plan& plan, const fs::path& out) {
  std::size_t done = 0;
  for (Trial& trial : arm.trials) done += look_at(trial, plan, out);
  return done == arm.trials.size();
}

std::optional<std::size_t> best(const std::vector<Trial>& trials, Direction direction) {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].value) continue;
    if (!out || is_better(*trials[i].value, *trials[*out].value, direction)) out = i;
  }
  return out;
}

/// The choice of every arm with its trials' results, as JSON.
std::string arms_json(const Plan& plan) {
  std::vector<std::string> arms;
  for (std::size_t a = 0; a < plan.arms.size(); ++a) {
    json::array trials;
    for (const Trial& trial : plan.tuning->arms[a].trials)
      trials.push_back(json::object{{"value", trial.value ? json::value(*trial.value) : json::value(nullptr)},
                                    {"problem", trial.problem}});
    arms.push_back("  " + one_line(json::object{{"label", plan.arms[a].label},
                                                {"chosen", *plan.tuning->arms[a].chosen},
                                                {"trials", std::move(trials)}}));
  }
  return fmt::format("{}", fmt::join(arms, ",\n"));
}

std::string choices_json(const Plan& plan) {
  const std::string arms = arms_json(plan);
  return fmt::format("{{\n\"format\": {},\n\"plan\": {},\n\"hash\": \"{}\",\n\"arms\": [\n{}\n]\n}}\n", choices_format,
                     json_text(plan.hash), content_hash(arms), arms);
}

void read_arm(const json::object& object, ArmTuning& arm, Direction direction) {
  const json::array& trials = list(object, "trials");
  if (trials.size() != arm.trials.size()) throw Wrong{"an arm's trials differ from the plan's"};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const json::object& trial = as_object(trials[i], "a trial");
    arm.trials[i].problem = text(trial, "problem");
    arm.trials[i].value = real_or_null(needed(trial, "value"), "value");
  }
  const std::int64_t chosen = integer(object, "chosen");
  if (chosen < 0 || static_cast<std::size_t>(chosen) >= trials.size() ||
      !arm.trials[static_cast<std::size_t>(chosen)].value)
    throw Wrong{fmt::format("trial {} can't have been chosen", chosen)};
  arm.chosen = static_cast<std::size_t>(chosen);
  if (const auto by_values = best(arm.trials, direction); by_values != arm.chosen)
    throw Wrong{fmt::format("trial {} is chosen, but trial {} has the best value", chosen, *by_values)};
}

} // namespace

void look_at_trials(Plan& plan, const fs::path& out) {
  if (!plan.tuning) return;
  const Direction direction = direction_in(plan);
  for (ArmTuning& arm : plan.tuning->arms) {
    if (arm.chosen) continue;
    if (look_at(arm, plan, out)) arm.chosen = best(arm.trials, direction);
  }
  apply_choices(plan);
}

bool settle(Plan& plan, const fs::path& out, const fs::path& folder, const std::function<bool()>& give_up) {
  auto lock = Lease::wait(file_of_sweep(folder, "claim"), give_up);
  if (!lock) return false;
  read_choices(plan, folder); // another process may have settled it in the meantime
  if (plan.tuning->settled() && choices_file(folder).exists()) return true;
  look_at_trials(plan, out);
  for (std::size_t a = 0; a < plan.arms.size(); ++a)
    for (const Trial& trial : plan.tuning->arms[a].trials) {
      if (trial.is_damaged)
        throw Failed(
            fmt::format("tuning the arm \"{}\": a trial's run can't be used. {}. Remove its folder and run again",
                        plan.arms[a].label, trial.problem));
      if (!is_done(trial)) return false;
    }
  for (std::size_t a = 0; a < plan.arms.size(); ++a) {
    const ArmTuning& arm = plan.tuning->arms[a];
    if (arm.chosen) continue;
    std::string why;
    for (const Trial& trial : arm.trials) why += fmt::format("\n      {}: {}", in_words(trial.point), trial.problem);
    throw Failed(fmt::format("tuning the arm \"{}\": none of its trials can be chosen:{}", plan.arms[a].label, why));
  }
  if (!lock->confirm()) return false; // another process now has the lock and settles it
  choices_file(folder).write(choices_json(plan));
  return true;
}

void read_choices(Plan& plan, const fs::path& folder) {
  if (!plan.tuning) return;
  const auto bytes = choices_file(folder).read();
  if (bytes.is_missing()) return;
  const auto refuse = [&](const std::string& why) {
    throw Refused(fmt::format("'{}' is damaged: {}; remove it, and run the sweep's configuration again: the trials' "
                              "runs stay, and give the same choices",
                              choices_file(folder).string(), why));
  };
  if (!bytes) throw Refused(bytes.error);
  try {
    const json::value whole = parsed(*bytes);
    const json::object& object = as_object(whole, "it");
    if (const auto format = integer(object, "format"); format != choices_format)
      throw Wrong{fmt::format("its format is {}, this Heed reads {}", format, choices_format)};
    if (text(object, "plan") != plan.hash) throw Wrong{"it is of another plan"};
    const json::array& arms = list(object, "arms");
    if (arms.size() != plan.arms.size()) throw Wrong{"its arms differ from the plan's"};
    const Direction direction = direction_in(plan);
    for (std::size_t a = 0; a < arms.size(); ++a)
      read_arm(as_object(arms[a], "an arm"), plan.tuning->arms[a], direction);
    const std::string hash = content_hash(arms_json(plan));
    if (given(object, "hash") && text(object, "hash") != hash)
      throw Wrong{fmt::format("its checksum is {}, its content's {}: it is not what was written (another checksum)",
                              cut(text(object, "hash")), hash)};
  } catch (const Wrong& wrong) {
    refuse(wrong.why);
  }
  apply_choices(plan);
}

bool is_done(const Trial& trial) { return trial.value || (!trial.problem.empty() && !trial.is_damaged); }

void each_run(const Plan& plan, const std::function<void(const PlannedRun&, const Trial*)>& use) {
  if (const auto& tuning = plan.tuning) {
    std::vector<const Trial*> trials(tuning->runs.size());
    for (const ArmTuning& arm : tuning->arms)
      for (const Trial& trial : arm.trials)
        for (const std::size_t run : trial.runs) trials.at(run) = &trial;
    for (std::size_t i = 0; i < trials.size(); ++i) use(tuning->runs[i], trials[i]);
  }
  for (const PlannedRun& run : plan.runs) use(run, nullptr);
  if (plan.variation)
    for (const PlannedRun& run : plan.variation->runs) use(run, nullptr);
}

std::string short_words(const Trial& trial) {
  std::vector<PlannedChange> point = trial.point;
  for (PlannedChange& change : point)
    if (!names_block(change.key)) change.key.erase(0, change.key.rfind('.') + 1); // npos + 1 is 0
  return in_words(point);
}

bool on_edge(const TunedOption& option, const std::string& value) {
  if (!option.ordered || option.values.size() < 2) return false;
  const auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  const auto [least, greatest] = std::minmax_element(option.values.begin(), option.values.end(),
                                                     [&](const std::string& a, const std::string& b) {
                                                       return number(a) < number(b);
                                                     });
  return number(value) == number(*least) || number(value) == number(*greatest);
}

std::string tuning_in_words(const Tuning& tuning, std::size_t index) {
  const ArmTuning& arm = tuning.arms.at(index);
  const bool one = tuning.options.size() == 1;
  const auto point_text = [&](const std::vector<PlannedChange>& point) {
    return one ? point.front().value : in_words(point);
  };
  std::string text = fmt::format("tried {}{}", one ? tuning.options.front().key + " = " : "",
                                 joined(arm.trials, one ? ", " : "; ", [&](const Trial& trial) {
                                   return fmt::format("{} ({})", point_text(trial.point),
                                                      !trial.problem.empty() ? trial.problem
                                                      : trial.value          ? fmt::format("{:.4g}", *trial.value)
                                                                             : "not done");
                                 }));
  if (!arm.chosen)
    return text +
           fmt::format("; {} of {} trials are done", std::ranges::count_if(arm.trials, is_done), arm.trials.size());
  const std::vector<PlannedChange>& chosen = arm.trials[*arm.chosen].point;
  text += fmt::format("; chose {}", point_text(chosen));
  std::vector<std::string> edges;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (on_edge(tuning.options[i], chosen[i].value)) edges.push_back(chosen[i].key);
  if (!edges.empty())
    text += fmt::format(", at the edge of the grid{}: a value outside of the grid may be better",
                        one ? "" : fmt::format(" for {}", fmt::join(edges, ", ")));
  return text;
}

} // namespace heed
