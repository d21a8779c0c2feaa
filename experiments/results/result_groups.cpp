#include "experiments/results/result_groups.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace heed {

namespace {

constexpr std::size_t most_arms = 1000;

std::string arms_in_words(const std::vector<std::string>& arms) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, arms.size()); ++i) names.push_back(shown_text(arms[i]));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     arms.size() > most ? fmt::format(", and {} more", arms.size() - most) : "");
}

/// The names of all arms, in the order of their first rows.
std::vector<std::string> arm_names(const ResultRuns& runs) {
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  for (const ResultRun& run : runs.runs)
    if (seen.insert(run.arm).second) out.push_back(run.arm);
  return out;
}

/// The arm that is called the reference, if the question names none.
std::optional<std::string> usual_reference(const std::vector<std::string>& arms) {
  std::vector<std::string> found;
  for (const std::string& arm : arms) {
    std::string word = arm;
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (word == "reference" || word == "baseline" || word == "control" || word.starts_with("reference (") ||
        word.ends_with("(reference)"))
      found.push_back(arm);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::string reference_arm(const ResultTable& table, const ResultRequest& question,
                          const std::vector<std::string>& arms) {
  const std::string option = question.option("reference");
  if (question.reference.empty()) {
    if (const auto usual = usual_reference(arms)) return *usual;
    throw Refused(fmt::format("{}: no arm is called reference or baseline; name the arm that the others are compared "
                              "with: {} ARM; the arms are {}",
                              table.name, option, arms_in_words(arms)));
  }
  const std::string& wanted = question.reference;
  if (std::ranges::find(arms, wanted) != arms.end()) return wanted;
  std::vector<std::string> beginning;
  for (const std::string& arm : arms)
    if (arm.starts_with(wanted)) beginning.push_back(arm);
  if (beginning.size() == 1) return beginning.front();
  if (beginning.size() > 1)
    throw Refused(fmt::format("{}: {} {}: several arms begin like this: {}; write the whole name", table.name, option,
                              shown_text(wanted), arms_in_words(beginning)));
  throw Refused(fmt::format("{}: {}: no arm is called {}{}; the arms are {}", table.name, option, shown_text(wanted),
                            did_you_mean(wanted, arms), arms_in_words(arms)));
}

/// A number for sorting groups, if all values of a column are numbers.
std::optional<double> group_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' || !std::isfinite(number) ? std::nullopt : std::optional(number);
}

/// Sorts groups by numbers or by name, so that the order of a table's rows changes nothing: the first group is the one
/// that interactions compare with.
void sort_result_groups(std::vector<ResultGroup>& groups) {
  const std::size_t columns = groups.front().values.size();
  std::vector<std::vector<double>> ranks(groups.size());
  for (std::size_t column = 0; column < columns; ++column) {
    const bool numeric = std::ranges::all_of(groups, [&](const ResultGroup& group) {
      return group_number(group.values[column]).has_value();
    });
    std::set<std::string_view> names;
    for (const ResultGroup& group : groups) names.insert(group.values[column]);
    std::map<std::string_view, double> places;
    for (const std::string_view name : names) places.emplace(name, static_cast<double>(places.size()));
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::string& text = groups[g].values[column];
      ranks[g].push_back(numeric ? *group_number(text) : places.at(text));
    }
  }
  std::vector<std::size_t> order(groups.size());
  for (std::size_t g = 0; g < order.size(); ++g) order[g] = g;
  std::ranges::stable_sort(order, {}, [&](std::size_t g) { return ranks[g]; });
  std::vector<ResultGroup> sorted;
  for (const std::size_t g : order) sorted.push_back(std::move(groups[g]));
  groups = std::move(sorted);
}

/// Moves the group of that name to the front: "mnist", or "dataset = mnist".
void put_first(std::vector<ResultGroup>& groups, const ResultTable& table, const ResultRequest& question,
               const ResultRuns& runs) {
  const std::string option = question.option("first");
  if (runs.group_names.empty())
    throw Refused(fmt::format("{} {}: there are no groups; {} COLUMN makes them", option, shown_text(question.first),
                              question.option("group")));
  std::vector<std::string> names, values;
  for (const ResultGroup& group : groups) {
    names.push_back(group_in_words(runs, group.values));
    values.push_back(fmt::format("{}", fmt::join(group.values, ", ")));
    if (question.first != names.back() && question.first != values.back()) continue;
    const auto here = groups.begin() + static_cast<std::ptrdiff_t>(names.size() - 1);
    std::rotate(groups.begin(), here, here + 1);
    return;
  }
  throw Refused(fmt::format("{}: {} {}: no group is called {}{}; the groups are {}", table.name, option,
                            shown_text(question.first), shown_text(question.first),
                            did_you_mean(question.first, values), arms_in_words(values)));
}

} // namespace

std::string group_in_words(const ResultRuns& runs, const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size(); ++i)
    parts.push_back(fmt::format("{} = {}", runs.group_names[i], values[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<ResultGroup> groups_of(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs) {
  const std::vector<std::string> arms = arm_names(runs);
  if (arms.size() < 2)
    throw Refused(fmt::format("{}: there is one arm only, {}; a comparison needs two. {} COLUMN names the column whose "
                              "values are compared; {}",
                              table.name, arms_in_words(arms), question.option("arm"), columns_in_words(table)));
  if (arms.size() > most_arms)
    throw Refused(fmt::format(
        "{}: there are {} arms ({}); at most {} are compared. Is the arm another column? {} COLUMN names it",
        table.name, arms.size(), arms_in_words(arms), most_arms, question.option("arm")));
  const std::string reference = reference_arm(table, question, arms);
  std::vector<ResultGroup> out;
  std::map<std::vector<std::string>, std::size_t> places;
  PolledWork work;
  for (const ResultRun& run : runs.runs) {
    work.did(10 * steps_of_cell);
    const auto [place, is_new] = places.emplace(run.group, out.size());
    if (is_new) out.push_back({run.group, {}, {}});
    out[place->second].runs[run.arm].push_back(&run);
  }
  std::map<std::string_view, std::size_t> order;
  for (const std::string& arm : arms) order.emplace(arm, order.size());
  for (ResultGroup& group : out) {
    poll_caller();
    for (const auto& [arm, of] : group.runs) group.arms.push_back(arm);
    std::ranges::sort(group.arms, {}, [&](const std::string& arm) { return order.at(arm); });
    const auto found = std::ranges::find(group.arms, reference);
    if (found == group.arms.end())
      throw Refused(fmt::format("{}: there is no run of the reference, {}, at {}; its arms are {}", table.name,
                                shown_text(reference), group_in_words(runs, group.values), arms_in_words(group.arms)));
    std::rotate(group.arms.begin(), found, found + 1);
  }
  sort_result_groups(out);
  if (!question.first.empty()) put_first(out, table, question, runs);
  return out;
}

} // namespace heed
