#include "experiments/sweep/plan_notes.hpp"

#include "autograd/error.hpp"
#include "experiments/sweep/steps_to.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>

namespace heed {

namespace {

/// "between 0 and 1", "at least 0"
std::string range_of(const MetricInfo& metric) {
  return metric.greatest ? fmt::format("between {:g} and {:g}", metric.least, *metric.greatest)
                         : fmt::format("at least {:g}", metric.least);
}

bool has(const MetricInfo& metric, double value) {
  return value >= metric.least && !(metric.greatest && value > *metric.greatest);
}

/// The option, and where it stands: "report.margin (copy.toml:7:8)".
std::string placed(const Settings& settings, const std::string& key) {
  const auto found = settings.values().find(key);
  return found == settings.values().end() ? key : fmt::format("{} ({})", key, found->second.origin.text());
}

void check_target(const Preparation& prepared, const std::string& name, const std::string& key) {
  const std::optional<StepsTo> goal = steps_to(name);
  if (!goal) return;
  const MetricInfo metric = metric_of(prepared.arms.front().config, goal->metric, key);
  if (!has(metric, goal->value))
    throw Refused(fmt::format("{}: no run gets to {} = {:g}, which is always {}; take a value within that",
                              placed(prepared.settings, key), goal->metric, goal->value, range_of(metric)));
}

/// Of a warm-up that takes the whole run; empty where it doesn't.
std::string warmup_note(const Config& config) {
  const TrainOptions& train = config.train;
  if (train.steps == 0 || train.warmup < train.steps || train.warmup == 0) return "";
  std::string text = fmt::format("train.warmup = {} is not shorter than the run (train.steps = {}): the learning rate "
                                 "only rises, and stays below train.learning_rate",
                                 train.warmup, train.steps);
  if (train.schedule == "constant" || train.schedule == "noam") return text;
  return text + fmt::format("; train.schedule = \"{}\" and its options do nothing", train.schedule);
}

} // namespace

void refuse_unreachable(const Preparation& prepared) {
  const Plan& plan = prepared.plan;
  const MetricInfo& metric = prepared.metric;
  check_target(prepared, plan.metric, "report.metric");
  for (const std::string& also : plan.also) check_target(prepared, also, "report.also");
  if (plan.margin && metric.greatest && *plan.margin >= *metric.greatest - metric.least)
    throw Refused(fmt::format("{} = {:g}: {} lies {}, so that any two arms would be the same; take a smaller margin",
                              placed(prepared.settings, "report.margin"), *plan.margin, metric.name, range_of(metric)));
  if (plan.learned && !has(metric, *plan.learned))
    throw Refused(fmt::format("{} = {:g}: {} is always {}; take a value within that",
                              placed(prepared.settings, "report.learned"), *plan.learned, metric.name,
                              range_of(metric)));
}

std::vector<std::string> notes_of(const Preparation& prepared) {
  std::vector<std::string> notes = prepared.settings.notes();
  std::ranges::copy(prepared.plan.notes, std::back_inserter(notes));
  using ByNote = std::map<std::string, std::vector<std::string>>; // who it is to be said of
  const auto add = [&](const ByNote& arms, auto at) {
    for (const auto& [note, labels] : arms)
      at = std::next(notes.insert(at, labels.size() == prepared.arms.size()
                                          ? note
                                          : fmt::format("{} (in the arm{} {})", note, labels.size() == 1 ? "" : "s",
                                                        fmt::join(labels, ", "))));
  };
  ByNote warmups, sights;
  for (std::size_t a = 0; a < prepared.arms.size(); ++a) {
    const std::string label = fmt::format("\"{}\"", prepared.plan.arms[a].label);
    if (const std::string note = warmup_note(prepared.arms[a].config); !note.empty()) warmups[note].push_back(label);
    if (const std::string& sight = prepared.arms[a].sight; !sight.empty())
      sights[fmt::format("the model sees what it is to predict: {}. What it measures says nothing of what it learned",
                         sight)]
          .push_back(label);
  }
  add(warmups, notes.end());
  add(sights, notes.begin());
  return notes;
}

} // namespace heed
