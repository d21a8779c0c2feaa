#include "experiments/report/notes.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/arm_notes.hpp"
#include "experiments/report/caveats.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/not_worse.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/other_examples.hpp"
#include "experiments/report/over_tasks.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/report/variance.hpp"
#include "experiments/statistics/corrections.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace heed {

namespace {

using document::Note;
using statistics::Answer;

/// What reports call a metric, and its name if that is another: "accuracy (val_accuracy)".
std::string full_name(const Metric& metric) {
  return metric.label.empty() ? metric.name : fmt::format("{} ({})", metric.label, metric.name);
}

bool any(const ReportData& report, const std::function<bool(const statistics::Comparison&)>& holds) {
  return std::any_of(report.arms.begin(), report.arms.end(),
                     [&](const ReportArm& arm) { return arm.comparison && holds(*arm.comparison); });
}

bool unpaired(const ReportData& report) { return report.test == statistics::Test::unpaired; }

bool is_same(const statistics::Comparison& c) { return c.answer == Answer::same; }

/// The note about arms that are the same.
std::string equivalence_note(const ReportData& report) {
  if (!any(report, is_same)) return "";
  return fmt::format(" For \"same\", the interval is that of the equivalence tests, which also contains 0: it lies "
                     "within the margin of {:g}, and an end at the margin itself has a round bracket.",
                     *report.margin);
}

bool is_constant(const statistics::Comparison& c) { return c.constant; }

std::string constant_note(const ReportData& report) {
  return any(report, is_constant) ? " An arm whose differences are all equal has none: their spread is unknown." : "";
}

std::string difference_note(const ReportData& report) {
  double level = statistics::significance_level; // the largest level of any look
  if (!report.looks.empty()) level = std::ranges::max(statistics::look_levels(report.looks));
  const std::string its_level = report.looks.empty() ? level_text(level) : "its look's level";
  if (report.asks_not_worse()) return not_worse_difference_note(report, its_level);
  const char* whose = report.within.empty() ? "the reference" : "the reference of its group";
  const bool contradicts = any(report, [](const auto&c) { return c.contradicts; }), same = any(report, is_same);
  const std::string exception =
      fmt::format("{}{}{}", contradicts || same ? ", unless " : "", same ? "the arm is the same" : "",
                  !contradicts ? "" : fmt::format("{}ranks and means have opposite directions", same ? " or " : ""));
  const std::string about_zero = fmt::format(
      "An interval excludes 0 exactly when p is at most {}{}. p can find a difference that the joint interval does not "
      "yet show; then the end nearest to 0 is printed as 0 with a round bracket, as in (0, 0.1]",
      its_level, exception);
  if (report.seeds.size() < 2) return fmt::format("from {}; one seed says nothing about the spread.", whose);
  if (!has_intervals(report))
    return fmt::format("{} {}; {}.",
                       unpaired(report) ? "mean of the arm's runs minus mean of the runs of" : "arm minus",
                       unpaired(report) ? std::string(whose)
                                        : fmt::format("{}, paired by {}", whose, report.paired_by()),
                       any(report, is_constant) ? "the differences are all equal, so their spread is unknown"
                                                : "too few seeds for an interval");
  if (unpaired(report))
    return fmt::format("mean of the arm's runs minus mean of the runs of {}. [{}]: simultaneous intervals of all arms, "
                       "from the same tests as p (Bonferroni). {}.{}",
                       whose, confidence_text(report), about_zero, equivalence_note(report));
  return fmt::format(
      "arm minus {}, paired by {}. [{}]: simultaneous intervals of all arms, from the same sign flips as "
      "p. {}. With fewer than {} seeds there is none{}.{}",
      whose, report.paired_by(), confidence_text(report), about_zero, statistics::seeds_for_level(level),
      same ? ", except for \"same\"" : "", constant_note(report) + equivalence_note(report));
}

std::string by_ranks(const ReportData& report) {
  return any(report, [](const auto& c) { return c.ranked; }) ? " If runs did not reach the target: by ranks." : "";
}

/// What p is corrected for: "arms", "arms and metrics", "arms, metrics and interactions".
std::string family_in_words(const ReportData& report) {
  if (report.asks_not_worse()) return "arms"; // the others are asked for a difference
  const bool metrics = !report.also.empty(), interactions = !report.interactions.empty();
  return metrics && interactions ? "arms, metrics and interactions"
         : metrics               ? "arms and metrics"
         : interactions          ? "arms and interactions"
                                 : "arms";
}

/// " 2^6 = 64"; empty if arms have different numbers of seeds.
std::string number_of_flips(const ReportData& report) {
  std::set<std::size_t> seeds;
  for (const ReportArm& arm : report.arms)
    if (arm.comparison) seeds.insert(arm.comparison->seeds.size());
  if (seeds.size() != 1) return "";
  return fmt::format(" 2^{} = {}", *seeds.begin(), with_commas(std::int64_t{1} << *seeds.begin()));
}

std::string p_note(const ReportData& report) {
  if (report.asks_not_worse())
    return not_worse_p_note(report, any(report, [](const auto& c) { return !c.exact; })
                                        ? with_commas(std::int64_t{statistics::random_flips + 1}) + " random "
                                        : fmt::format("all{} ", number_of_flips(report)));
  if (unpaired(report))
    return fmt::format(
        "the larger of two: of Welch's t test, and of permutations of which runs are the arm's and which the "
        "reference's{}. Corrected for the number of {} (Holm).{}",
        any(report, [](const auto& c) { return !c.exact; }) ? " (100,000 random ones)" : " (all of them)",
        family_in_words(report), by_ranks(report));
  const std::string method = fmt::format(" A flip changes a seed's sign in all arms{} together. By the step-down "
                                         "max-|t| method, corrected for the number of {}.{}",
                                         report.also.empty() ? "" : " and metrics", family_in_words(report),
                                         by_ranks(report));
  if (any(report, [](const auto& c) { return !c.exact; }))
    return fmt::format("the share of sign flips of the differences that give a result at least as clear as the "
                       "observed one; approximate above {} seeds, from {} random flips.{}",
                       statistics::most_exact_seeds,
                       with_commas(static_cast<std::int64_t>(statistics::random_flips + 1)), method);
  return fmt::format("the share of all{} sign flips of the differences that give a result at least as clear as the "
                     "observed one.{}",
                     number_of_flips(report), method);
}

std::string p_claim(const ReportData& report) {
  return fmt::format("{}{}, corrected for all {}.", report.asks_not_worse() ? "of not worse: " : "",
                     unpaired(report)
                         ? "permutations of the runs with a result at least as clear"
                         : fmt::format("the share of{} sign flips with a result at least as clear",
                                       any(report, [](const auto& c) { return !c.exact; }) ? ""
                                                                                           : number_of_flips(report)),
                     family_in_words(report));
}

std::string answer_claim(const ReportData& report) {
  const std::string level = report.looks.empty() ? level_text(statistics::significance_level) : "its look's level";
  if (report.asks_not_worse()) return not_worse_answer_claim(report, level);
  return fmt::format("{} if p is at most {}{}; undecided shows neither.",
                     report.metric.is_goal() ? "better or worse" : "differs", level,
                     report.margin ? fmt::format("; same if within {:g}{}", *report.margin,
                                                 report.metric.unit.empty() ? "" : " " + report.metric.unit)
                                   : "");
}

std::string answer_note(const ReportData& report) {
  const std::string level = report.looks.empty() ? level_text(statistics::significance_level) : "its look's level";
  if (report.asks_not_worse()) return not_worse_answer_note(report, level);
  std::string text = "";
  if (any(report, equal_in_all_seeds)) text += "equal if the metric is the same number in all seeds; otherwise ";
  if (report.margin)
    text += fmt::format("same if two one-sided tests by {} put the difference within the margin of {:g}{} (level {}, "
                        "corrected for the number of {}); otherwise ",
                        unpaired(report) ? "permutations" : "sign flips", *report.margin,
                        report.metric.unit.empty() ? "" : " " + report.metric.unit, level,
                        report.interactions.empty() ? "arms" : "arms and interactions");
  return text + fmt::format("{} if p is at most {}; otherwise undecided, which is no evidence that there is no "
                            "difference.",
                            report.metric.is_goal() ? "better or worse" : "differs", level);
}

/// A note about the threshold between two groups of runs, if it was found in the runs themselves.
std::string learned_note(const ReportData& report) {
  if (std::ranges::none_of(report.arms, [](const ReportArm& arm) { return arm.learned && arm.learned->found; }))
    return "";
  return fmt::format("two groups of runs are seen where the widest gap is at least three times as wide as each "
                     "group. One skewed group of 12 runs looks like two in 1 to 6 of 100 sweeps; {}.",
                     report.table ? "--learned sets the threshold" : "[report] learned sets the threshold beforehand");
}

/// The note that identifies the plan, as in a preregistration.
std::string planned_note(const ReportData& report) {
  if (report.hash.empty()) return "";
  if (!report.frozen) return fmt::format("{}, of a version that did not keep when it was frozen.", report.hash);
  return fmt::format("{}, frozen {}, {}.", report.hash, time_text(report.frozen->at),
                     report.frozen->finished == 0 ? "before any of its runs had finished"
                                                  : "after some of its runs had finished, as said at the top");
}

/// A note if all runs reached the value by the first evaluation.
std::string first_evaluation_note(const ReportData& report) {
  if (!report.evaluated) return "";
  std::set<double> values;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs) {
      if (run.value) values.insert(*run.value);
      if (!run.curve.empty()) first = std::min(first, run.curve.front().step);
    }
  if (values.size() != 1 || *values.begin() != static_cast<double>(first)) return "";
  return "all runs were there at their first evaluation: evaluate more often (train.evaluate_every), or ask for more.";
}

/// A note on whether pairing by seed reduces the noise of the differences.
Note pairs_note(const ReportData& report) {
  std::vector<double> r;
  for (const ReportArm& arm : report.arms)
    if (arm.comparison && arm.comparison->correlation) r.push_back(*arm.comparison->correlation);
  if (r.empty() || unpaired(report)) return {};
  std::ranges::sort(r);
  const double median = (r[(r.size() - 1) / 2] + r[r.size() / 2]) / 2;
  const bool little = median < 0.3;
  const std::string arm = r.size() == 1 ? "the arm" : "an arm",
                    reference = report.within.empty() ? "the reference" : "its reference";
  return {.claim = fmt::format("over the seeds, {} correlates with {} by {}{}.", arm, reference,
                               signed_fixed(median, 2), little ? ", so pairing hardly helps" : ""),
          .text = fmt::format(
              "the correlation of {} with {} over the seeds is {}{}.{}", arm, reference, signed_fixed(median, 2),
              r.size() == 1 ? ""
                            : fmt::format(" (median of the {} arms; smallest {}, largest {})", r.size(),
                                          signed_fixed(r.front(), 2), signed_fixed(r.back(), 2)),
              !little ? ""
              : report.table
                  ? " At so low a correlation, pairing hardly helps. For new runs, choose --test unpaired "
                    "before you see them: it may find more."
                  : " At so low a correlation, pairing hardly helps. In a sweep with new seeds, set [report] "
                    "test = \"unpaired\" before the runs: it may find more.")};
}

/// What "(n = 6)" beside a p says; empty if no row has it.
std::string earlier_looks_note(const ReportData& report) {
  const auto earlier = [&](const ReportArm& arm) { return arm.comparison && !earlier_look_text(report, arm).empty(); };
  if (std::ranges::none_of(report.arms, earlier)) return "";
  return " \"(n = ...)\" after p: an earlier look found the answer, so difference, interval and p are of these seeds; "
         "the mean is of all in column n.";
}

/// A note on the look that the answers use, and the levels of the looks.
std::string looks_note(const ReportData& report) {
  if (report.looks.empty()) return "";
  const std::size_t last = report.seeds_looked_at(), done = report.seeds_done();
  std::string text =
      fmt::format("planned at {} seeds, where p may be {}: together a {:.0f} % chance of a false difference; ",
                  fmt::join(report.looks, ", "), joined(statistics::look_levels(report.looks), ", ", level_text),
                  100 * statistics::significance_level);
  if (last == report.seeds.size())
    return text + "the answers are of the last look, or of the one that found them." + earlier_looks_note(report);
  text += fmt::format("{} of {} seeds {} finished; ", done, report.seeds.size(), done == 1 ? "has" : "have");
  if (last == 0)
    return text +
           fmt::format("the first look is at {} seeds, and there are no answers before it.", report.looks.front());
  return text +
         fmt::format("the answers are of the planned look at {}, and later seeds are in no number of the table. What "
                     "is found at a look stays.",
                     last) +
         earlier_looks_note(report);
}

/// "with n = 5, p cannot be below 0.0625; at least 6 seeds are needed", for the underpowered arm with the most seeds.
std::string underpowered_note(const ReportData& report) {
  const statistics::Comparison* most = nullptr;
  for (const ReportArm& arm : report.arms)
    if (arm.comparison && arm.comparison->answer == Answer::underpowered &&
        (most == nullptr || arm.comparison->seeds.size() > most->seeds.size()))
      most = &*arm.comparison;
  if (most == nullptr) return "";
  const std::string words = underpowered_words(fmt::format("{}", most->seeds.size()), most->smallest_p,
                                               most->seeds_needed);
  return words.substr(words.find(": ") + 2) + ".";
}

/// Which arms start from a trained run, and what their intervals therefore do not cover. Empty if there is none.
Note starts_note(const ReportData& report) {
  using Labels = std::vector<std::string>;
  std::map<std::string, Labels> arms;                 // by the run that they start from
  std::map<std::vector<std::string>, Labels> changed; // by the options that differ from the start's
  for (const ReportArm& arm : report.arms) {
    if (arm.start.empty()) continue;
    arms[arm.start].push_back(name_in_list(arm.label));
    const auto run = std::ranges::find_if(arm.runs, [](const ReportRun& r) { return !r.start_changes.empty(); });
    if (run != arm.runs.end()) changed[run->start_changes].push_back(name_in_list(arm.label));
  }
  if (arms.empty()) return {};
  const auto runs_of = [&](const Labels& labels) {
    return labels.size() == report.arms.size() ? "all runs" : fmt::format("the runs of {}", fmt::join(labels, ", "));
  };
  std::string text = joined(arms, "; ",
                            [&](const auto& start) {
                              return fmt::format("{} start from the weights of run {}", runs_of(start.second),
                                                 start.first);
                            }) +
                     ".";
  for (const auto& [changes, labels] : changed)
    text += fmt::format(" In {}, the same weights compute something else than in their start: {}.", runs_of(labels),
                        fmt::join(changes, ", "));
  std::string claim = text;
  if (report.seeds.size() > 1) {
    claim += " All seeds share this start, so spreads, intervals and p hold for it only.";
    text += " All seeds share this start, so spreads, intervals and p do not cover how results vary with the start: "
            "they hold for this start only.";
  }
  return {.claim = std::move(claim),
          .text = text + " The training of the start is in no number of steps, FLOPs or time."};
}

/// The note about pairs that are more than a seed, of which all other notes speak.
std::string pairs_of_table_note(const ReportData& report) {
  if (!report.table || report.paired_by() == "seed") return "";
  return fmt::format("in these texts, a seed is a {}{}. p assumes that they are independent; folds of one data set "
                     "share most of their rows, so p of folds is too small.",
                     report.paired_by().find(" and ") == std::string::npos ? "" : "combination of ",
                     report.paired_by());
}

/// Its first sentence, for readers with little room.
std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

} // namespace

std::vector<Note> report_notes(const ReportData& report) {
  const Metric& metric = report.metric;
  std::vector<Note> notes;
  const auto add_note = [&](std::string name, Note note) {
    if (note.text.empty()) return;
    if (note.claim.empty()) note.claim = first_sentence(note.text);
    note.name = std::move(name);
    notes.push_back(std::move(note));
  };
  const auto add = [&](std::string name, std::string text, bool second = false, Note::Kind kind = Note::Kind::column) {
    add_note(std::move(name), {.kind = kind, .text = std::move(text), .second = second});
  };
  const std::string over = report.seeds.size() > 1 ? "mean ± standard deviation over n runs, " : "",
                    better = std::string(in_words(metric.direction));
  const std::string unit = metric.unit.empty() ? "" : fmt::format(" ({})", metric.unit);
  add_note(full_name(metric),
           {.claim = fmt::format("{}{}; {}{}.", metric.description.substr(0, metric.description.find(',')), unit,
                                 over.empty() ? "" : "mean ± sd over n runs, ", better),
            .text = fmt::format("{}{}; {}{}.", over, better, metric.description, unit)});
  add("seeds", pairs_of_table_note(report));
  if (any(report, [](const auto&) { return true; })) {
    const std::size_t ended = report.count(RunState::finished) + report.count(RunState::failed) + report.left_out() +
                              report.gone();
    if (report.looks.empty() && ended < report.total())
      add("unfinished", fmt::format("{} finished, so answers may change, and p holds for one look at a number of seeds "
                                    "that was fixed beforehand.",
                                    report.table ? "not all runs are" : "the sweep isn't"));
    add("difference", difference_note(report));
    add_note("p", {.claim = p_claim(report), .text = p_note(report)});
    Note pairs = pairs_note(report);
    pairs.second = true;
    add_note("pairs", std::move(pairs));
    add_note("answer", {.claim = answer_claim(report), .text = answer_note(report)});
    add_note("spreads", spreads_note(report));
    add("rare failures", rare_failures_note(report));
    add("learned", learned_note(report));
    add("underpowered", underpowered_note(report));
    add("scope", scope_note(report));
    add("examples", over_examples_note(report));
    add("unknown examples", unknown_examples_note(report));
    add("all", over_tasks_note(report));
    add("not over all tasks", lacking_tasks_note(report));
  }
  add("looks", looks_note(report));
  if (report.reference_values.size() > longest_in_name) add("reference", report.reference_values + ".", true);
  add("chance", chance_note(report), true);
  add("evaluations", first_evaluation_note(report));
  add_note("starts", starts_note(report));
  if (!report.interactions.empty())
    add("interactions",
        fmt::format("by sign flips of each seed's change; p is corrected for {}.",
                    !report.asks_not_worse() ? "arms and interactions together"
                    : report.also.empty()    ? "all interactions, separately from the arms"
                                             : "interactions and further metrics, separately from the first metric"),
        true);
  add("variance", variance_note(report), true);
  if (report.tuning)
    add("tuned",
        "p and intervals hold for the settings that were chosen. Two arms that are the same function can differ "
        "because other settings were chosen (in 4 to 21 of 100 simulated sweeps); the sentences say what p is "
        "if this is counted as noise.");
  if (state_differs(report))
    add("state", "numbers that decoding stores for one sequence, once the longest one is read.", true);
  if (!report.table || std::ranges::any_of(report.arms, &has_time))
    add("time", "training time of one run, the mean over the seeds of the arm.", true);
  if (report.table) add("columns", report.table->columns + ".", true);
  add("plan", planned_note(report), true);
  for (const auto& [arm, formulas] : formulas_of_arms(report)) add(arm, formulas, false, Note::Kind::formula);
  for (const ReportArm& arm : report.arms)
    if (arm.matched) add(arm.label, matching_in_words(arm, report.match), false, Note::Kind::matching);
  if (report.tuning)
    for (std::size_t a = 0; a < report.arms.size(); ++a)
      add(report.arms[a].label, tuning_in_words(*report.tuning, a) + ".", false, Note::Kind::tuning);
  return notes;
}

std::string further_note(const Metric& metric, bool apart) {
  return fmt::format("{}, compared as well, {}: {}; {}{}.", full_name(metric),
                     apart ? "for a difference of either sign, with a correction of its own"
                           : "with the same correction",
                     in_words(metric.direction), metric.description,
                     metric.unit.empty() ? "" : fmt::format(" ({})", metric.unit));
}

} // namespace heed
