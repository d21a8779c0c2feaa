#include "experiments/report/limits.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numbers>
#include <string_view>

namespace heed {

namespace {

constexpr std::string_view why_worse_than_chance =
    "training diverged, or the model fitted patterns that do not hold for other data";

constexpr double near_enough = 0.01, near = 0.05; // fractions of the distance from chance to the metric's bound

/// "val_accuracy" for "val_accuracy_at.64"; other names as they are.
std::string plain_metric(const Metric& metric) {
  const auto of = name_of_length(metric.name);
  return of && of->family.ends_with("_at") ? metric_of_family(of->family) : metric.name;
}

/// The chance of the sequences that the metric is of: all sequences, or those of one of [train] evaluate_lengths. Null:
/// unknown.
const Task::Chance* chance_of_rows(const ReportData& report, const ReportArm& arm) {
  const auto of = name_of_length(report.metric.name);
  if (!of || !of->family.ends_with("_at")) return arm.chance ? &*arm.chance : nullptr;
  const auto found = arm.chance_at_lengths.find(of->length);
  return found == arm.chance_at_lengths.end() ? nullptr : &found->second;
}

/// The values of the runs that count; empty if one failed, is still to come, or has no value.
std::vector<double> values_where_all_ended(const ReportData& report, const ReportArm& arm) {
  std::vector<double> out;
  for (const ReportRun& run : report.counted_runs(arm)) {
    if (run.exclusion != RunExclusion::none) continue;
    if (!run.value) return {};
    out.push_back(*run.value);
  }
  return out;
}

bool all_are(const std::vector<double>& values, std::optional<double> bound) {
  return bound && std::ranges::all_of(values, [&](double x) { return x == *bound; });
}

/// The scale from chance to the metric's best value.
class Way {
public:
  /// Empty if chance is unknown, if the metric has no best value, or if chance equals it.
  static std::optional<Way> of(const ReportData& report, const ReportArm& arm) {
    const std::optional<Task::Level> chance = chance_level(report, arm);
    const std::optional<double> best = report.metric.best();
    if (!chance || !best || *best == chance->value) return std::nullopt;
    return Way(chance->value, *best, plain_metric(report.metric).ends_with("_perplexity") && *best > 0);
  }

  /// The position of a value on the scale: 0 at chance, 1 at the best value, negative if worse than chance.
  double share(double value) const { return (measured(value) - from_) / (to_ - from_); }
  double at(double share) const {
    const double value = from_ + share * (to_ - from_);
    return exponential_ ? std::exp(value) : value;
  }

private:
  Way(double chance, double best, bool exponential)
      : exponential_(exponential), from_(measured(chance)), to_(measured(best)) {}
  double measured(double value) const { return exponential_ ? std::log(value) : value; }

  bool exponential_;
  double from_, to_;
};

Standing standing_at(double share) {
  return share > near ? Standing::learned : share < -near ? Standing::worse_than_chance : Standing::at_chance;
}

bool at_chance(const std::vector<double>& gone) {
  if (std::ranges::max(gone) > near) return false;
  const double mean = statistics::mean(gone);
  if (mean <= near_enough) return true;
  const std::vector<double> chances(gone.size(), 0.0);
  const auto interval = statistics::paired_difference(gone, chances).interval;
  return interval && interval->low <= 0;
}

/// "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  if (names.size() == 1) return names.front();
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + name_in_list(names[i]);
  return out;
}

/// The limit, for one arm or for several that share it, and the value there.
std::string where(const ReportData& report, const ReportArm& arm, Limit limit, bool shared) {
  const std::string& metric = report.metric.shown();
  const auto at_bound = [&](double bound) {
    return fmt::format("{}: {} is {:g} in all seeds", place_of(limit), metric, bound);
  };
  switch (limit) {
    case Limit::chance:
      return fmt::format("{}: {} {} is that of guessing, {}", place_of(limit), shared ? "their" : "its", metric,
                         chance_in_words(report, arm));
    case Limit::worse_than_chance:
      return fmt::format("{}: guessing gives {} {}", place_of(limit), metric, chance_in_words(report, arm));
    case Limit::worst: return at_bound(*report.metric.worst());
    case Limit::best: return at_bound(*report.metric.best());
    case Limit::none: break;
  }
  return "";
}

/// The meaning of the limit, for one arm or for several that share it, and advice: further sentences.
std::string advice(Limit limit, bool shared, bool of_table) {
  if (limit == Limit::worse_than_chance)
    return fmt::format(" Either {}.{}", why_worse_than_chance, shared ? " This task can't tell them apart." : "");
  if (!shared) return limit == Limit::best ? "" : " It has learned nothing that shows.";
  if (of_table)
    return limit == Limit::best ? " This task is too easy to distinguish them: try a harder one."
                                : " This task can't tell them apart.";
  return limit == Limit::best
             ? " This task is too easy to distinguish them. Try a harder task, or compare how fast they learn "
               "(steps_to)."
             : " This task can't tell them apart. Try another train.learning_rate, a model.init_std close to 1 / "
               "sqrt(model.width), or more train.steps.";
}

} // namespace

std::optional<Task::Level> chance_level(const ReportData& report, const ReportArm& arm) {
  const Task::Chance* known = chance_of_rows(report, arm);
  if (!known || known->how.empty()) return std::nullopt;
  const Task::Chance& chance = *known;
  const std::string metric = plain_metric(report.metric);
  if (metric.ends_with("_sequence_accuracy") || metric.ends_with("_decoded_accuracy")) return chance.sequence;
  if (metric.ends_with("_accuracy")) return Task::Level{chance.accuracy, chance.how};
  if (!chance.loss) return std::nullopt;
  const auto& [loss, how] = *chance.loss;
  if (metric.ends_with("_perplexity")) return Task::Level{std::exp(loss), "e to the power of " + how};
  if (metric.ends_with("_bits_per_character")) return Task::Level{loss / std::numbers::ln2, how + ", in bits"};
  if (metric.ends_with("_loss") || metric.ends_with("_loss_estimate")) return chance.loss;
  return std::nullopt;
}

std::string chance_in_words(const ReportData& report, const ReportArm& arm) {
  const std::optional<Task::Level> level = chance_level(report, arm);
  if (!level) return "";
  return fmt::format("{} ({})", fixed(level->value, decimals_showing({level->value}, 4)), level->how);
}

std::string chance_note(const ReportData& report) {
  if (report.arms.empty()) return "";
  const std::string level = chance_in_words(report, report.arms.front());
  if (level.empty()) return "";
  std::string text = fmt::format("guessing gives {} {}.", report.metric.shown(), level);
  if (const std::optional<double> best = report.metric.best(); best && Way::of(report, report.arms.front()))
    text += fmt::format(" {} is at chance if two conditions hold: none of its runs is more than {:g} % of the way "
                        "from guessing to the best possible value, {:g}; and the mean of its runs is at most {:g} % of "
                        "this way, or Student's 95 % interval of the mean includes the value of guessing.",
                        report.arms.size() == 1 ? "The model" : "An arm", 100 * near, *best, 100 * near_enough);
  return text;
}

std::optional<double> share_of_way(const ReportData& report, const ReportArm& arm, double value) {
  const std::optional<Way> way = Way::of(report, arm);
  return way ? std::optional(way->share(value)) : std::nullopt;
}

std::optional<Standing> standing_of(const ReportData& report, const ReportArm& arm, double value) {
  const std::optional<Way> way = Way::of(report, arm);
  return way ? std::optional(standing_at(way->share(value))) : std::nullopt;
}

std::optional<double> least_learned(const ReportData& report, const ReportArm& arm) {
  const std::optional<Way> way = Way::of(report, arm);
  return way ? std::optional(way->at(near)) : std::nullopt;
}

Limit limit_of(const ReportData& report, const ReportArm& arm) {
  poll_caller();
  const std::vector<double> values = values_where_all_ended(report, arm);
  if (values.empty()) return Limit::none;
  const std::optional<double> best = report.metric.best();
  if (all_are(values, best)) return Limit::best;
  if (const std::optional<Way> way = Way::of(report, arm)) {
    std::vector<double> gone;
    for (const double x : values) gone.push_back(way->share(x));
    if (standing_at(std::ranges::max(gone)) == Standing::worse_than_chance) return Limit::worse_than_chance;
    if (at_chance(gone)) return Limit::chance;
  }
  return all_are(values, report.metric.worst()) ? Limit::worst : Limit::none;
}

namespace {

std::string name_of(const ReportData& report, const ReportArm& arm) {
  if (report.arms.size() == 1) return "the model";
  return report.is_reference(arm) ? "the reference" : arm.short_label();
}

std::string as_sentence(std::string text) {
  if (text.starts_with("the ")) text.front() = 'T';
  return text;
}

/// Sentences about arms that see their prediction targets, grouped by the option that allows it.
std::vector<std::string> sight_sentences(const ReportData& report) {
  std::map<std::string, std::vector<std::string>> there;
  for (const ReportArm& arm : report.arms)
    if (!arm.leakage.empty()) there[arm.leakage].push_back(name_of(report, arm));
  std::vector<std::string> out;
  for (const auto& [leakage, names] : there) {
    const bool one = names.size() == 1;
    out.push_back(as_sentence(fmt::format(
        "{} {} what {} to predict ({}): {} {} says nothing of what was learned, and there is no answer against an arm "
        "that doesn't.",
        listed(names), one ? "sees" : "see", one ? "it is" : "they are", leakage, one ? "its" : "their",
        report.metric.shown())));
  }
  return out;
}

} // namespace

std::vector<std::string> limit_sentences(const ReportData& report) {
  // The arms at a limit, by reference in the order of the arms, then by limit.
  std::map<std::size_t, std::map<Limit, std::vector<const ReportArm*>>> there;
  for (const ReportArm& arm : report.arms)
    if (const Limit limit = limit_of(report, arm); limit != Limit::none) there[arm.reference][limit].push_back(&arm);
  std::vector<std::string> out = sight_sentences(report);
  for (const auto& [reference, limits] : there)
    for (const auto& [limit, arms] : limits) {
      // a single arm at the best value is a result, not a limit of the task
      if (arms.size() == 1 && limit == Limit::best) continue;
      std::vector<std::string> names;
      for (const ReportArm* arm : arms) names.push_back(name_of(report, *arm));
      const std::string group = report.group_label(report.arms[reference]);
      std::string text = fmt::format("{}{} {} {}.{}", group.empty() ? "" : fmt::format("At {}, ", group), listed(names),
                                     names.size() == 1 ? "is" : "are",
                                     where(report, *arms.front(), limit, names.size() > 1),
                                     advice(limit, names.size() > 1, report.table.has_value()));
      out.push_back(as_sentence(std::move(text)));
    }
  return out;
}

std::string_view place_of(Limit limit) {
  switch (limit) {
    case Limit::chance: return "at chance";
    case Limit::worse_than_chance: return "worse than chance";
    case Limit::worst: return "at the floor";
    case Limit::best: return "at the ceiling";
    case Limit::none: break;
  }
  return "";
}

ArmLimits arm_limits(const ReportData& report, const ReportArm& arm) {
  const Limit own = limit_of(report, arm);
  const bool shared = !report.is_reference(arm) && limit_of(report, report.arms[arm.reference]) == own;
  return {own, shared ? own : Limit::none};
}

std::string limit_remark(const ArmLimits& limits) {
  if (limits.shared != Limit::none)
    return fmt::format("Both {}: this task can't tell them apart. ", place_of(limits.shared));
  if (limits.own != Limit::worse_than_chance) return "";
  return fmt::format("Worse than chance: {}. ", why_worse_than_chance);
}

} // namespace heed
