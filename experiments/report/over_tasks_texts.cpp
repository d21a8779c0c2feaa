#include "experiments/report/over_tasks.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/not_worse.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace heed {

namespace json = boost::json;

namespace {

using statistics::Answer;
using statistics::Comparison;
using statistics::Estimate;
using statistics::TaskScope;

bool is_like_these(const ReportData& overall) { return overall.over->tasks == TaskScope::like_these; }

/// "Over these 5 tasks"; "Over tasks like these 7".
std::string over_which(const ReportData& overall) {
  const std::size_t tasks = overall.over->names.size();
  return is_like_these(overall) ? fmt::format("Over tasks like these {}", tasks)
                                : fmt::format("Over these {} tasks", tasks);
}

/// "8 seeds", "7 tasks", "23 pairs of runs": what the signs of differences are flipped by.
std::string flipped_units(const ReportData& overall, std::size_t count) {
  if (is_like_these(overall)) return counted(count, "task");
  return overall.over->common_seeds ? counted(count, "seed") : fmt::format("{} of runs", counted(count, "pair"));
}

std::string p_and_units(const ReportData& overall, const Comparison& c, double p) {
  const std::string text = p_and_n(c, p);
  return text.substr(0, text.rfind(", n = ")) + ", " + flipped_units(overall, c.seeds.size());
}

/// " nats": directly after a number.
std::string unit_text(const ReportData& overall) {
  return overall.metric.unit.empty() ? "" : " " + overall.metric.unit;
}

/// What a difference is measured on, unless it is the metric itself.
std::string scale_text(const ReportData& overall) {
  if (overall.over->is_from_chance()) return " on the scale from chance (0) to best (1)";
  return overall.over->is_own_metric() ? "" : " in the tasks' units";
}

std::string interval_after(const Comparison& c, Decimals decimals, bool turned = false) {
  std::string text = c.constant ? " each time" : "";
  if (c.interval) text += " " + interval_text(c, decimals, false, turned);
  return text;
}

std::string signed_text(const ReportData& overall, const Comparison& c, Decimals decimals) {
  return signed_fixed(c.difference.mean, decimals) + unit_text(overall) + scale_text(overall) +
         interval_after(c, decimals);
}

std::string compared_text(const ReportData& overall, const ReportArm& arm, const TableDigits& digits) {
  const std::string who = fmt::format("{}, {}", over_which(overall), arm.short_label());
  if (!arm.comparison)
    return fmt::format("{} can't be compared: no {} has results here and in the reference.", who,
                       overall.over->common_seeds ? "seed of all tasks" : "pair of runs");
  const Comparison& c = *arm.comparison;
  const Decimals decimals = decimals_showing(c, digits.of(arm).difference);
  const double mean = c.difference.mean;
  const std::string units = flipped_units(overall, c.seeds.size());
  const AnswerWord word = answer_word(arm.comparison, overall.metric);
  if (word == AnswerWord::equal) return fmt::format("{} is equal to the reference in each of {}.", who, units);
  if (c.answer == Answer::underpowered)
    return fmt::format("{} is underpowered: with {}, p cannot be below {:.3g}; at least {} are needed. So far {}.", who,
                       units, c.smallest_p, flipped_units(overall, c.seeds_needed), signed_text(overall, c, decimals));
  if (c.noninferiority) return not_worse_sentence(overall, arm, who, decimals);
  if (c.answer == Answer::differs)
    return fmt::format("{} {}: {}{} {}{}{}, {}.", who,
                       word == AnswerWord::differs ? "differs" : fmt::format("is {}", name_of(word)),
                       fixed(std::abs(mean), decimals), unit_text(overall), mean > 0 ? "higher" : "lower",
                       scale_text(overall), interval_after(c, decimals, mean <= 0),
                       p_and_units(overall, c, c.p.value_or(1)));
  if (c.answer == Answer::same)
    return fmt::format("{} is the same as the reference: the difference, {}, is within the margin of {} (equivalence "
                       "test: {}).",
                       who, signed_text(overall, c, decimals), margin_text(overall),
                       p_and_units(overall, c, c.p_equivalence_flips.value_or(1)));
  return fmt::format("{} is undecided: {}, {}.", who, signed_text(overall, c, decimals),
                     p_and_units(overall, c, c.p.value_or(1)));
}

/// " Better in 4 of 5 tasks, worse in 1."
std::string count_of_tasks(const ReportData& overall, const ReportArm& arm) {
  if (!arm.comparison) return "";
  const std::size_t tasks = overall.over->names.size();
  const auto count = [&](std::initializer_list<const char*> words) {
    std::size_t sum = 0;
    for (const char* word : words)
      if (const auto found = arm.over_tasks->answers.find(word); found != arm.over_tasks->answers.end())
        sum += found->second;
    return sum;
  };
  const std::size_t better = count({"better"}), worse = count({"worse"});
  const auto sentence = [&](std::string_view first, std::size_t of, std::string_view other, std::size_t others) {
    return fmt::format(" {} in {} of {} tasks{}.", first, of, tasks,
                       others > 0 ? fmt::format(", {} in {}", other, others) : "");
  };
  switch (answer_word(arm.comparison, overall.metric)) {
    case AnswerWord::worse: return sentence("Worse", worse, "better", better);
    case AnswerWord::differs: return sentence("Different", count({"differs"}), "", 0);
    case AnswerWord::same: return sentence("The same", count({"same", "equal"}), "worse", worse);
    case AnswerWord::equal: return sentence("Equal", count({"equal"}), "", 0);
    case AnswerWord::not_worse: return sentence("Not worse", better + count({"not worse", "equal"}), "worse", worse);
    default: break;
  }
  if (!overall.metric.is_goal()) return sentence("Different", count({"differs"}), "", 0);
  return sentence("Better", better, "worse", worse);
}

std::string estimate_text(const Estimate& of, Decimals decimals) {
  return fmt::format("{} [{}, {}]", fixed(of.value, decimals), fixed(of.interval->low, decimals),
                     fixed(of.interval->high, decimals));
}

/// " Interquartile mean 0.71 [0.69, 0.73] (reference 0.68 [0.66, 0.70]), probability of improvement 0.83 [0.71, 0.92]."
std::string runs_text(const ReportData& overall, const ReportArm& arm, const TableDigits& digits) {
  const auto& own = arm.over_tasks->interquartile_mean;
  const auto& reference = overall.arms.front().over_tasks->interquartile_mean;
  if (!own || !own->interval || !reference || !reference->interval) return "";
  const auto& improvement = arm.over_tasks->improvement;
  const double width = std::max(own->interval->high - own->interval->low, 0.0);
  const Decimals decimals = width > 0 ? Decimals(decimals_within(digits.common().value, width / 2))
                                      : Decimals(digits.common().value);
  return fmt::format(" Interquartile mean {} (reference: {}){}.", estimate_text(*own, decimals),
                     estimate_text(*reference, decimals),
                     improvement ? "; probability of improvement " + estimate_text(*improvement, 2) : "");
}

std::string excluded_text(const ReportArm& arm) {
  const std::size_t runs = arm.over_tasks->excluded;
  if (runs == 0) return "";
  return fmt::format(" {} of the arm and the reference {} excluded (failed, unusable, or without a result).",
                     counted(runs, "run"), runs == 1 ? "is" : "are");
}

bool states_bootstraps(const ReportData& overall) {
  return std::ranges::any_of(overall.arms, [](const ReportArm& arm) {
    const auto& mean = arm.over_tasks->interquartile_mean;
    return mean && mean->interval;
  });
}

/// The first names of a long list.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  const std::span<const std::string> first = std::span(names).first(std::min(names.size(), most));
  return fmt::format("{}{}", fmt::join(first, "; "),
                     names.size() > most ? fmt::format("; and {} more", names.size() - most) : "");
}

json::value estimate_json(const std::optional<Estimate>& of) {
  if (!of) return nullptr;
  return json::object{{"value", json_number(of->value)}, {"interval", json_interval(of->interval)}};
}

} // namespace

std::string sentence_over_tasks(const ReportData& overall, const ReportArm& arm, const TableDigits& digits) {
  const bool earlier = arm.look > 0 && arm.look < overall.seeds.size() && arm.comparison &&
                       is_found(arm.comparison->answer);
  return compared_text(overall, arm, digits) + count_of_tasks(overall, arm) + runs_text(overall, arm, digits) +
         (earlier ? fmt::format(" Found at the look of {} seeds.", arm.look) : "") + excluded_text(arm);
}

std::vector<std::string> sentences_over_tasks(const ReportData& report) {
  std::vector<std::string> out;
  if (!report.overall) return out;
  const TableDigits digits(*report.overall);
  for (const ReportArm& arm : report.overall->arms)
    if (!report.overall->is_reference(arm)) out.push_back(sentence_over_tasks(*report.overall, arm, digits));
  return out;
}

std::string over_tasks_note(const ReportData& report) {
  if (!report.over) return "";
  const OverTasks& over = *report.over;
  if (!over.problem.empty()) return fmt::format("there are no rows over all tasks: {}.", over.problem);
  const ReportData& overall = *report.overall;
  const std::size_t tasks = over.names.size(), arms = overall.arms.size() - 1;
  std::string text = fmt::format("rows over all {} tasks ({}). ", tasks, some_of(over.names));
  if (is_like_these(overall))
    text += "The differences are the tasks' means, and their signs are flipped by task: the answer is for other tasks "
            "of which these are a sample. n is the number of tasks.";
  else if (over.common_seeds)
    text += "The differences are means over the tasks by seed, and their signs are flipped by seed: the answer is for "
            "these tasks and other seeds. n is the number of seeds that all tasks have.";
  else
    text += "The tasks have different seeds, so the signs of differences are flipped by task and seed, with each task "
            "of the same weight: the answer is for these tasks and other seeds. n is the number of runs.";
  if (over.is_from_chance())
    text += " Values are on the scale from chance, 0, to the best possible value, 1, of the task.";
  else if (!over.is_own_metric()) {
    std::vector<std::string> units;
    for (std::size_t g = 0; g < tasks; ++g) units.push_back(fmt::format("{:g} ({})", over.units[g], over.names[g]));
    text += fmt::format(" Values are divided by the tasks' units: {}.", fmt::join(units, ", "));
  }
  if (report.margin && !overall.margin)
    text += " The margin is in the metric's own unit, so it does not apply to them.";
  text += arms > 1 ? fmt::format(" p is corrected for these {} arms, separately from the tasks' own rows.", arms)
                   : " p is of this arm only, separately from the tasks' own rows.";
  text += " \"Better in\" counts the tasks in which the row of the task itself has this answer.";
  if (states_bootstraps(overall))
    text += " The interquartile mean (of all runs of all tasks) and the probability of improvement (the mean over the "
            "tasks of P(a run of the arm is better than one of the reference), ties half) have 95 % intervals by a "
            "bootstrap within each task (10,000 draws), which are approximate and not corrected.";
  else
    text += fmt::format(" Bootstrap intervals, the probability of improvement and performance profiles take {} runs of "
                        "each arm in each task.",
                        statistics::fewest_bootstrap_runs);
  return text;
}

std::string lacking_tasks_note(const ReportData& report) {
  if (!report.over || report.over->lacking.empty()) return "";
  return fmt::format("{}; so there is no row over all tasks for {}.", fmt::join(report.over->lacking, "; "),
                     report.over->lacking.size() == 1 ? "it" : "them");
}

document::Figure profile_figure(const ReportData& report) {
  document::Figure out{.kind = document::Figure::Kind::lines, .name = "performance-profiles"};
  if (!report.overall) return out;
  const ReportData& overall = *report.overall;
  const std::vector<double>& at = overall.over->thresholds;
  out.metric = "performance profile";
  for (std::size_t a = 0; a < overall.arms.size(); ++a) {
    const ReportArm& arm = overall.arms[a];
    const std::vector<Estimate>& profile = arm.over_tasks->profile;
    if (profile.empty()) continue;
    document::Series series{.name = arm.short_label(), .look = a, .text = fmt::format("{:.2f}", profile.back().value)};
    for (std::size_t t = 0; t < at.size(); ++t)
      series.points.push_back({.at = at[t],
                               .value = profile[t].value,
                               .low = profile[t].interval->low,
                               .high = profile[t].interval->high,
                               .text = fixed(profile[t].value, 3)});
    out.series.push_back(std::move(series));
  }
  if (out.series.empty()) return out;
  const bool higher = overall.metric.higher_is_better();
  out.title = fmt::format("share of the runs of all tasks with {} {} a threshold", overall.metric.shown(),
                          higher ? "above" : "below");
  out.caption =
      fmt::format("Performance profiles: the {}. Bands are pointwise 95 % intervals by a bootstrap within each "
                  "task.",
                  out.title);
  out.x = {.label = "threshold", .low = at.front(), .high = at.back(), .has_fractions = true};
  out.y = {.label = "share of runs", .low = 0, .high = 1};
  out.second = false;
  return out;
}

json::value over_tasks_json(const ReportData& report) {
  const OverTasks& over = *report.over;
  json::object out{{"tasks", over.tasks == TaskScope::like_these ? "tasks like these" : "these tasks"},
                   {"scale", over.scale},
                   {"names", json_list(over.names)},
                   {"common_seeds", over.common_seeds},
                   {"problem", text_or_null(over.problem)},
                   {"lacking", json_list(over.lacking)}};
  json::array arms;
  if (report.overall) {
    const ReportData& overall = *report.overall;
    const TableDigits digits(overall);
    out["metric"] = metric_json(overall.metric);
    for (const ReportArm& arm : overall.arms) {
      const bool reference = overall.is_reference(arm);
      json::object answers;
      for (const auto& [word, count] : arm.over_tasks->answers) answers[word] = count;
      arms.push_back(json::object{
          {"label", arm.true_label()},
          {"name", arm.true_name()},
          {"answer",
           reference ? json::value(nullptr) : json::value(name_of(answer_word(arm.comparison, overall.metric)))},
          {"sentence", reference ? json::value(nullptr) : json::value(sentence_over_tasks(overall, arm, digits))},
          {"n", arm.values},
          {"mean", json_number(arm.mean)},
          {"standard_deviation", json_number(arm.standard_deviation)},
          {"comparison", arm.comparison ? comparison_json(*arm.comparison, overall.metric, digits.of(arm).difference)
                                        : json::value(nullptr)},
          {"answers_of_tasks", std::move(answers)},
          {"interquartile_mean", estimate_json(arm.over_tasks->interquartile_mean)},
          {"improvement", estimate_json(arm.over_tasks->improvement)}});
    }
  } else out["metric"] = nullptr;
  out["arms"] = std::move(arms);
  return out;
}

} // namespace heed
