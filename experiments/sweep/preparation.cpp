#include "experiments/sweep/preparation.hpp"

#include "autograd/error.hpp"
#include "autograd/pages.hpp"
#include "experiments/config/problems.hpp"
#include "experiments/config/unknown_names.hpp"
#include "experiments/config/values.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/models/model.hpp"
#include "experiments/models/segments.hpp"
#include "experiments/models/target_leakage.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/statistics/example_variance.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/task_info.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <tuple>

namespace heed {

const Tasks::Made& Tasks::made(const Config& config) {
  std::string key = config.general.precision;
  for (const FlatOption& option : flatten(config))
    if (decides_data(option.key) || option.key == "train.batch" ||
        // lists of examples are split into batches
        option.key == "train.batch_tokens" || option.key == "train.full_batch")
      key += "\n" + option.key + "=" + option.value;
  Made& made = made_[key];
  if (!made.task) {
    constexpr double little = 3e6; // smaller amounts may come from the allocator, and vary between starts
    const auto before = static_cast<double>(resident_bytes());
    made.task = make_task(config);
    if (const double more = static_cast<double>(resident_bytes()) - before; more > little) made.bytes = more;
  }
  return made;
}

TaskFormat task_format_of(const Config& config) { return f32::model_info(config.model.kind).format; }

Cost cost_of(const Config& config, Tasks& tasks) {
  const Tasks::Made& made = tasks.made(config);
  const Engine& with = engine(config);
  with.check(config, *made.task);
  Cost cost = with.cost(config, *made.task);
  cost.shared_bytes += made.bytes;
  return cost;
}

Task::Chance chance_of(const Config& config, Tasks& tasks) { return tasks.of(config).chance(task_format_of(config)); }

std::string leakage_of(const Config& config, Tasks& tasks) { return f32::target_leakage(config, tasks.of(config)); }

namespace {

Metric steps_metric(const Config& config, const std::string& name, const StepsTo& goal, const std::string& option) {
  const Metric evaluated = metric_of(config, goal.metric, option);
  if (!goal.metric.starts_with("val_"))
    throw Refused(fmt::format("{}: {} is measured only at the end of a run; take a metric of the validation split, as "
                              "in \"steps_to(val_loss, 0.5)\"",
                              option, goal.metric));
  if (config.train.evaluate_every == 0)
    throw Refused(fmt::format(
        "{}: {} needs evaluations during training, but there is only one, at the end; set train.evaluate_every", option,
        name));
  return {name,
          Direction::lower,
          "steps",
          fmt::format("the first evaluated step at which {} is {:g} or {}", goal.metric, goal.value,
                      evaluated.direction == Direction::lower ? "less" : "more"),
          0,
          static_cast<double>(config.train.steps + config.train.evaluate_every)};
}

/// @param names  the allowed names
[[noreturn]] void refuse_metric(const std::string& name, const std::string& option, std::string_view where,
                                const std::vector<std::string>& names) {
  std::string hint = hint_for("report.metric", name);
  if (std::ranges::none_of(names, [&](const std::string& other) { return hint.ends_with(" " + other); })) hint.clear();
  const std::string near = nearest(name, names);
  throw Refused(fmt::format("{}: \"{}\" is not measured {}; allowed: {}{}", option, name, where, fmt::join(names, ", "),
                            !hint.empty()  ? hint
                            : near.empty() ? ""
                                           : fmt::format(" (nearest: {})", near)));
}

/// The lengths that the validation split's sequences have.
std::set<std::int64_t> lengths_of_validation(const Config& config, Tasks& tasks) {
  const Task& task = tasks.of(config);
  const TaskFormat format = task_format_of(config);
  const TaskSizes sizes = task.sizes(format);
  const std::int64_t sequences = task.evaluation_sequences(format, Split::validation);
  std::set<std::int64_t> out;
  Batch batch;
  for (std::int64_t i = 0; i < sequences; ++i) {
    batch.reset(1, sizes, format);
    task.evaluation_sequence_lengths(format, Split::validation, i, batch, 0);
    out.insert(batch.evaluated_length(0, sizes));
  }
  return out;
}

/// Checks a metric. Whether a metric of a single head, module or layer exists is only known from the model, and whether
/// some sequence has a length only from the data.
void check_metric(const Config& config, const std::string& name, const std::string& option, Tasks& tasks) {
  metric_of(config, name, option);
  if (const auto goal = steps_to(name)) return check_metric(config, goal->metric, option, tasks);
  if (const auto of = metric_of_lengths(name); of && of->of_split()) {
    const std::set<std::int64_t> lengths = lengths_of_validation(config, tasks);
    const auto found = lengths.lower_bound(of->first);
    if (!lengths.empty() && (found == lengths.end() || *found > of->last))
      throw Refused(fmt::format("{}: \"{}\" would never have a value: no sequence of the validation split has {}; {}",
                                option, name,
                                of->is_range() ? fmt::format("a length from {} to {}", of->first, of->last)
                                               : fmt::format("length {}", of->first),
                                lengths.size() == 1 ? fmt::format("all have length {}", *lengths.begin())
                                                    : fmt::format("their lengths are from {} to {}", *lengths.begin(),
                                                                  *lengths.rbegin())));
  }
  const bool inside = std::ranges::any_of(inspected_metrics(), [&](const InspectedMetric& metric) {
    return name.starts_with(fmt::format("{}.", metric.name));
  });
  if (!inside) return;
  std::vector<std::string> names = engine(config).inspected(config, tasks.of(config));
  if (std::ranges::find(names, name) != names.end()) return;
  const std::string family = name.substr(0, name.find('.') + 1);
  std::erase_if(names, [&](const std::string& other) { return !other.starts_with(family); });
  refuse_metric(name, option, "of this model", names);
}

/// Refuses [report] examples where a difference over other examples has no meaning.
void check_examples(const Config& config, const std::string& metric, Tasks& tasks) {
  if (!is_mean_over_examples(metric))
    throw Refused(fmt::format("report.examples = true needs a metric that is a mean over validation examples ({}), and "
                              "report.metric is \"{}\": compare by one of these, or set report.examples = false",
                              fmt::join(means_over_examples(), ", "), metric));
  if (task_info(config.task.kind).running_text)
    throw Refused(fmt::format("report.examples = true needs separate examples, and task.kind = \"{}\" reads one text, "
                              "whose windows depend on each other: set report.examples = false",
                              config.task.kind));
  const Task& task = tasks.of(config);
  const TaskFormat format = task_format_of(config);
  const std::int64_t examples = evaluated_sequences(config, task, format),
                     all = task.evaluation_sequences(format, Split::validation);
  if (examples < static_cast<std::int64_t>(statistics::fewest_examples))
    throw Refused(fmt::format("report.examples = true needs {} validation examples or more, and {}: {}, or set "
                              "report.examples = false",
                              statistics::fewest_examples,
                              examples < all ? fmt::format("train.evaluate_batches x train.batch is {}", examples)
                                             : fmt::format("there are {}", examples),
                              examples < all ? "raise train.evaluate_batches" : "hold out more"));
}

std::string not_comparable(const Config& reference, const Config& arm, const std::string& metric, Tasks& tasks) {
  return why_not_comparable(reference, tasks.of(reference), task_format_of(reference), arm, tasks.of(arm),
                            task_format_of(arm), metric);
}

/// Checks the metrics of the reference: report.metric, then those of report.also. If the model cannot be built, only
/// the names are checked.
void check_metrics(const Config& config, const std::vector<std::string>& names, const Settings& settings,
                   Problems& problems, Tasks& tasks) {
  const bool has_model = problems.empty();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string option = i == 0 ? "report.metric" : "report.also";
    const auto set = settings.values().find(option);
    const std::string place = set == settings.values().end() ? "" : set->second.origin.text() + ": ";
    try {
      if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
          names.begin() + static_cast<std::ptrdiff_t>(i))
        throw Refused(fmt::format("{}: \"{}\" is compared already; name each metric once", option, names[i]));
      if (has_model) check_metric(config, names[i], option, tasks);
      else metric_of(config, names[i], option);
    } catch (const Refused& error) {
      problems.add(place + error.what());
    }
  }
  if (!config.report.examples || !has_model) return;
  try {
    check_examples(config, names.front(), tasks);
  } catch (const Refused& error) {
    problems.add(settings.values().at("report.examples").origin.text() + ": " + error.what());
  }
}

using Checked = std::pair<Config, Cost>;

/// Checks a configuration. Throws heed::Refused if it cannot run, or cannot be compared with the reference. Without a
/// reference, it is a reference itself and must measure the metric.
Checked checked(Config config, const Plan& plan, const Settings& settings, const Config* reference, Tasks& tasks,
                Starts& starts) {
  Cost cost;
  Problems problems;
  try {
    cost = cost_of(config, tasks);
    starts.check(config, tasks);
  } catch (const Refused& error) {
    problems.add(with_places(error.what(), config, settings));
  }
  std::vector<std::string> metrics{plan.metric};
  metrics.insert(metrics.end(), plan.also.begin(), plan.also.end());
  if (!reference) check_metrics(config, metrics, settings, problems, tasks);
  problems.refuse();
  if (!reference) return {std::move(config), cost};
  for (const std::string& metric : metrics)
    if (const std::string why = not_comparable(*reference, config, metric, tasks); !why.empty())
      throw Refused(fmt::format("this arm can't be compared with the reference: {}", why));
  for (const std::string& metric : metrics) check_metric(config, metric, "report.metric", tasks);
  return {std::move(config), cost};
}

/// `checked`, whose error then says the arm and its trial. @param trial  null: the arm itself
Checked prepared_arm(Config config, const Trial* trial, const Plan& plan, const Settings& settings, std::size_t arm,
                     const Config* reference, Tasks& tasks, Starts& starts) {
  try {
    return checked(std::move(config), plan, settings, reference, tasks, starts);
  } catch (const Refused& error) {
    if (!trial && plan.arms.size() == 1) throw;
    throw Refused(fmt::format("{} (in {} \"{}\"{})", error.what(), trial ? "[sweep.tune], the arm" : "the arm",
                              plan.arms[arm].label, trial ? " with " + short_words(*trial) : ""));
  }
}

PlannedCost planned(const Cost& cost) { return {cost.parameters, cost.flops_per_step, cost.bytes(1), cost.state_size}; }

/// The task's warnings, and those of its further validation sets that are not the task's own.
std::vector<std::string> warnings_of(const Task& task) {
  const std::vector<std::string> own = task.warnings();
  std::vector<std::string> out = own;
  for (const Task::NamedSet& set : task.sets())
    for (const std::string& warning : set.task->warnings())
      if (std::ranges::find(own, warning) == own.end())
        out.push_back(fmt::format("validation set \"{}\": {}", set.name, warning));
  return out;
}

std::int64_t untrained_positions(const Config& config, Tasks& tasks) {
  if (config.train.steps == 0 ||
      !config.any_block([](const LayerChoice& block) { return block.position.kind == "learned"; }))
    return 0;
  const Task& task = tasks.of(config);
  const TaskFormat format = task_format_of(config);
  const TaskSizes trained = task.training_sizes(format);
  const auto beyond = [&](const TaskSizes& all) {
    return std::max(all.length - trained.length, all.output_length - trained.output_length);
  };
  std::int64_t untrained = beyond(task.sizes(format));
  for (const Task::NamedSet& set : task.sets()) untrained = std::max(untrained, beyond(set.task->sizes(format)));
  return untrained;
}

/// Whether a check can afford to run the model on one sequence, which takes memory and time; a cost is only counted.
bool may_run_a_sequence(const Cost& cost) {
  constexpr double most_bytes = 1e9, most_flops_per_step = 2e12; // a second, or less
  return cost.bytes(1) < most_bytes && cost.flops_per_step < most_flops_per_step;
}

bool has_formula(const LayerChoice& block) {
  const AttentionOptions& o = block.attention;
  return !o.mask_mod.empty() || !o.score_mod.empty() || !o.cross_mask_mod.empty() || !o.cross_score_mod.empty();
}

/// What looking at the data of arms found. Arms with the same data and model share it.
class DataNotes {
public:
  explicit DataNotes(Tasks& tasks) : tasks_(tasks) {}

  void write(PreparedArm& arm) {
    const Task& task = tasks_.of(arm.config);
    arm.warnings = once(warnings_, &task, [&] { return warnings_of(task); });
    const std::pair model{&task, model_of(arm.config)};
    arm.missing_segment_end = once(segments_, model, [&] { return f32::missing_segment_end(arm.config, task); });
    if (arm.config.any_block(&has_formula) && may_run_a_sequence(arm.cost))
      arm.queries_without_keys = once(queries_, model,
                                      [&] { return engine(arm.config).queries_without_keys(arm.config, task); });
  }

private:
  template <class Key, class Found, class Look>
  static const Found& once(std::map<Key, Found>& found, const Key& key, const Look& look) {
    const auto known = found.find(key);
    return known != found.end() ? known->second : found.emplace(key, look()).first->second;
  }

  /// All options but those of training, of which neither note depends.
  static std::string model_of(const Config& config) {
    std::string out;
    for (const FlatOption& option : flatten(config))
      if (!option.key.starts_with("train.")) out += option.key + "=" + option.value + "\n";
    return out;
  }

  Tasks& tasks_;
  std::map<const Task*, std::vector<std::string>> warnings_;
  std::map<std::pair<const Task*, std::string>, std::string> segments_;
  std::map<std::pair<const Task*, std::string>, std::vector<QueryWithoutKeys>> queries_;
};

} // namespace

Metric metric_of(const Config& config, const std::string& name, const std::string& option) {
  std::optional<StepsTo> goal;
  try {
    goal = steps_to(name);
  } catch (const Refused& error) {
    throw Refused(fmt::format("{}: {}", option, error.what()));
  }
  if (goal) return steps_metric(config, name, *goal, option);
  if (auto metric = metric_named(config, name)) return std::move(*metric);
  std::vector<std::string> names = names_of(metrics_of(config));
  for (const InspectedMetric& metric : inspected_metrics())
    if (name.starts_with(fmt::format("{}.", metric.name)))
      throw Refused(fmt::format("{}: \"{}\" is measured only if train.inspect is one of {}, but it is {}", option, name,
                                fmt::join(metric.words, ", "), config.train.inspect));
  const std::optional<MetricOfLengths> of = metric_of_lengths(name);
  if (of && of->is_range() && !of->of_split()) {
    const std::vector<std::int64_t>& evaluated = config.train.evaluate_lengths;
    if (lengths_within(*of, evaluated).empty())
      throw Refused(fmt::format(
          "{}: \"{}\" is the mean over the lengths of train.evaluate_lengths from {} to {}, but {}; add lengths to "
          "train.evaluate_lengths",
          option, name, of->first, of->last,
          evaluated.empty() ? std::string("it has none") : fmt::format("it has only {}", fmt::join(evaluated, ", "))));
  }
  if (of && of->of_split() && !config.train.evaluate_by_length)
    throw Refused(fmt::format("{}: \"{}\" is measured only if train.evaluate_by_length is true, but it is false",
                              option, name));
  names.emplace_back("steps_to(METRIC, VALUE)");
  refuse_metric(name, option, "here", names);
}

std::string with_places(const std::string& message, const Config& config, const Settings& settings) {
  const auto names = [&](const std::string& name) {
    const std::size_t at = message.find(name), end = at + name.size();
    const auto in_word = [&](std::size_t i) {
      return i < message.size() && (std::isalnum(static_cast<unsigned char>(message[i])) || message[i] == '_');
    };
    return at != std::string::npos && !in_word(end) && !in_word(at - 1); // 0 - 1 is beyond the end
  };
  const std::vector<FlatOption> values = flatten(config);
  std::string out;
  for (const auto& [key, setting] : settings.values()) {
    const std::size_t dot = key.rfind('.');
    if (dot == std::string::npos) continue;
    const auto value = std::ranges::find(values, key, &FlatOption::key);
    if (value != values.end() && value->value != value_text(setting.value)) continue; // an arm's own value
    const std::string in_table = fmt::format("[{}] {}", key.substr(0, dot), key.substr(dot + 1));
    if (names(key) || names(in_table))
      out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", key, setting.origin.text());
  }
  return out.empty() ? message : fmt::format("{} ({})", message, out);
}

Preparation prepare(Settings settings, const std::string& fallback_name, Tasks& tasks,
                    const std::filesystem::path& out) {
  Starts starts(out);
  settings.use_starts([&](const std::string& run) { return starts.find(run); });
  ResolvedArms resolved;
  Plan plan = make_plan(
      settings,
      [&](const Config& config) {
        try {
          return tasks.of(config).fingerprint();
        } catch (const Refused& error) {
          throw Refused(with_places(error.what(), config, settings));
        }
      },
      fallback_name, [&](const Config& config) { return cost_of(config, tasks); }, &resolved);
  std::vector<PreparedArm> arms;
  DataNotes data_notes(tasks);
  for (std::size_t a = 0; a < plan.arms.size(); ++a) {
    PreparedArm arm;
    const std::size_t against = plan.arms[a].reference; // an earlier arm, or this arm itself
    const Config* reference = against == a ? nullptr : &arms.at(against).config;
    if (plan.tuning) {
      for (Trial& trial : plan.tuning->arms.at(a).trials) {
        const bool first = arm.trials.empty();
        auto [config, cost] = prepared_arm(std::move(resolved[a][arm.trials.size()]), &trial, plan, settings, a,
                                           first || reference ? reference : &arm.config, tasks, starts);
        arm.trials.push_back({config.train.steps, cost});
        trial.cost = planned(cost);
        if (first) std::tie(arm.config, arm.cost) = std::tie(config, cost);
      }
    } else {
      std::tie(arm.config, arm.cost) = prepared_arm(std::move(resolved[a].front()), nullptr, plan, settings, a,
                                                    reference, tasks, starts);
      plan.arms[a].cost = planned(arm.cost);
    }
    arm.leakage = leakage_of(arm.config, tasks);
    arm.start = starts.check(arm.config, tasks);
    arm.untrained_positions = untrained_positions(arm.config, tasks);
    data_notes.write(arm);
    arms.push_back(std::move(arm));
  }
  Metric metric = metric_of(arms.front().config, plan.metric);
  if (plan.tuning && !metric.is_goal())
    throw Refused(
        fmt::format("[sweep.tune] chooses the best values by report.metric, but for \"{}\" {}; take a metric that "
                    "should be low or high, such as val_loss, and name this one in report.also",
                    plan.metric, in_words(metric.direction)));
  return {std::move(settings), std::move(plan), std::move(arms), std::move(metric)};
}

Load load_of(const Preparation& prepared, const Plan& plan, std::size_t arm, const Trial* trial) {
  const PreparedArm& of = prepared.arms.at(arm);
  if (!plan.tuning) return {of.config.train.steps, of.cost};
  const ArmTuning& tuning = plan.tuning->arms.at(arm);
  const std::size_t index = trial ? static_cast<std::size_t>(trial - tuning.trials.data()) : tuning.chosen.value_or(0);
  return of.trials.at(index);
}

double largest_bytes(const Preparation& prepared, int threads) {
  double bytes = 0;
  for (const PreparedArm& arm : prepared.arms) {
    bytes = std::max(bytes, arm.cost.bytes(threads));
    for (const Load& trial : arm.trials) bytes = std::max(bytes, trial.cost.bytes(threads));
  }
  return bytes;
}

int useful_threads(const Preparation& prepared) {
  int threads = 1;
  for (const PreparedArm& arm : prepared.arms) {
    threads = std::max(threads, arm.cost.useful_threads);
    for (const Load& trial : arm.trials) threads = std::max(threads, trial.cost.useful_threads);
  }
  return threads;
}

Allocation allocation_for(const Preparation& prepared, std::size_t to_do, int jobs, int threads) {
  if (threads == 0) threads = static_cast<int>(prepared.arms.front().config.train.threads);
  const Machine machine = this_machine();
  double bytes = largest_bytes(prepared, std::max(1, threads));
  for (;;) { // fewer runs at once have more threads each, and need more memory
    const Allocation allocation = allocate_machine(machine, to_do, bytes, jobs, threads, useful_threads(prepared));
    const double needed = largest_bytes(prepared, allocation.threads);
    if (needed <= bytes) return allocation;
    bytes = needed;
  }
}

} // namespace heed
