#include "experiments/report/answers.hpp"
#include "experiments/report/interactions.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/not_worse.hpp"
#include "experiments/report/over_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace heed {

namespace {

using Arms = std::vector<const ReportArm*>;

/// "score = additive, score = cosine and the model without norms".
std::string names_of(const ReportData& report, const Arms& arms) {
  std::string out;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    std::string name = subject(report, *arms[i]);
    if (i > 0 && name.starts_with("The ")) name[0] = 't';
    out += (i == 0 ? "" : i + 1 == arms.size() ? " and " : ", ") + name;
  }
  return out;
}

/// The difference that is farthest from 0, with its sign and unit.
std::string largest_difference(const ReportData& report, const Arms& arms, const TableDigits& digits) {
  const ReportArm* const most = *std::ranges::max_element(arms, {}, [](const ReportArm* arm) {
    return std::abs(arm->comparison->difference.mean);
  });
  const statistics::Comparison& c = *most->comparison;
  return signed_fixed(c.difference.mean, decimals_showing(c, digits.of(*most).difference)) + unit_of(report.metric);
}

std::string sentence_of(const ReportData& report, AnswerWord answer, const Arms& arms, const TableDigits& digits) {
  const std::string names = names_of(report, arms);
  if (answer == AnswerWord::equal)
    return fmt::format("{} are equal to the reference: the same {} in each seed.", names, report.metric.shown());
  if (report.asks_not_worse()) return shared_not_worse_sentence(report, names, arms, digits);
  const std::string largest = largest_difference(report, arms, digits);
  if (answer == AnswerWord::same) {
    const auto found = std::ranges::count_if(arms, [](const ReportArm* arm) {
      return arm->comparison->p.value_or(1) <= arm->comparison->level;
    });
    return fmt::format("{} are the same as the reference within {} (largest difference {}).{}", names,
                       margin_text(report), largest,
                       found == 0 ? ""
                                  : fmt::format(" {} of them {}, by less than the margin.", found,
                                                found == 1 ? "differs" : "differ"));
  }
  const auto least = std::ranges::min_element(arms, {},
                                              [](const ReportArm* arm) { return arm->comparison->p.value_or(1); });
  return fmt::format("{} are undecided: {} (largest difference {}, smallest p {}).", names,
                     report.margin ? "neither different from the reference nor the same within " + margin_text(report)
                                   : "no difference from the reference is shown",
                     largest, p_with_relation((*least)->comparison->p.value_or(1)));
}

} // namespace

std::vector<std::string> short_answer_sentences(const ReportData& report) {
  const TableDigits digits(report);
  std::map<AnswerWord, Arms> alike;
  std::map<const ReportArm*, std::string> whole;
  for (const ReportArm& arm : report.arms) {
    if (report.is_reference(arm)) continue;
    const AnswerSentence parts = answer_parts(report, arm, digits);
    whole[&arm] = parts.before + parts.answer + parts.after;
    const AnswerWord answer = answer_word(arm.comparison, report.metric);
    const bool shares = answer == AnswerWord::same || answer == AnswerWord::equal || answer == AnswerWord::not_worse ||
                        (answer == AnswerWord::undecided && !arm.comparison->contradicts);
    if (shares && parts.before.empty() && parts.after.empty()) alike[answer].push_back(&arm);
  }
  std::vector<std::string> out = limit_sentences(report);
  std::ranges::copy(sentences_over_tasks(report), std::back_inserter(out));
  for (const ReportArm& arm : report.arms) {
    if (report.is_reference(arm)) continue;
    const auto shared = std::ranges::find_if(alike, [&](const auto& entry) {
      return entry.second.size() > 1 && std::ranges::find(entry.second, &arm) != entry.second.end();
    });
    if (shared == alike.end()) out.push_back(whole[&arm]);
    else if (shared->second.front() == &arm) out.push_back(sentence_of(report, shared->first, shared->second, digits));
  }
  std::ranges::copy(interaction_sentences(report), std::back_inserter(out));
  return out;
}

} // namespace heed
