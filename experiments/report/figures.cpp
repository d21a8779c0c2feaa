#include "experiments/report/figures.hpp"

#include "autograd/error.hpp"
#include "experiments/metrics/lengths.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/arm_notes.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/limits.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/over_tasks.hpp"
#include "experiments/report/variance.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

namespace heed {

namespace {

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} ({})", name, unit);
}

/// Marks the series whose ends would leave the others no room. `reach` has a number for each.
void mark_outside(document::Figure& figure, const std::vector<double>& reach) {
  const std::vector<bool> far = outlying(reach);
  for (std::size_t i = 0; i < far.size(); ++i)
    if (far[i]) figure.series[i].outside = figure.is_cut = true;
}

/// The axis along which points have their values: from the least to the greatest of those that are shown. That of
/// differences has 0 and the margin, and some room.
void set_extent(document::Figure& figure) {
  const bool differences = figure.kind == document::Figure::Kind::differences;
  document::Axis& axis = differences ? figure.x : figure.y;
  axis.low = axis.high = 0;
  bool any = false;
  for (const document::Series& series : figure.series)
    if (!series.outside)
      for (const document::Point& point : series.points) { // an infinite end is open
        const double low = std::isfinite(point.low) ? point.low : point.value,
                     high = std::isfinite(point.high) ? point.high : point.value;
        axis.low = any ? std::min(axis.low, low) : low;
        axis.high = any ? std::max(axis.high, high) : high;
        any = true;
      }
  if (!differences) {
    if (axis.high <= axis.low) axis.high = axis.low + std::max(1e-3, 0.1 * std::abs(axis.low));
    return;
  }
  const double margin = figure.margin.value_or(0), line = figure.margin_line.value_or(0);
  axis.low = std::min({0.0, -margin, line, axis.low});
  axis.high = std::max({0.0, margin, line, axis.high});
  const double room = axis.high > axis.low ? 0.05 * (axis.high - axis.low) : 1;
  axis.low -= room;
  axis.high += room;
}

document::Figure differences(const ReportData& report) {
  const TableDigits digits(report);
  document::Figure out{.kind = document::Figure::Kind::differences,
                       .name = "differences",
                       .metric = report.metric.name,
                       .title = "differences from the reference",
                       .margin = report.asks_not_worse() ? std::nullopt : report.margin};
  if (report.asks_not_worse()) out.margin_line = report.metric.higher_is_better() ? -*report.margin : *report.margin;
  std::vector<double> reach;
  for (const ReportArm& arm : report.arms) {
    if (!arm.comparison) continue;
    const statistics::Comparison& c = *arm.comparison;
    const double mean = c.difference.mean;
    const statistics::Interval range = c.interval.value_or(statistics::Interval{mean, mean});
    const Verdict verdict = verdict_of(c, report.metric, digits.of(arm).difference);
    out.series.push_back({.group = report.group_label(arm),
                          .name = arm.short_label(),
                          .mark = verdict.answer,
                          .has_range = c.interval.has_value(),
                          .text = verdict.interval.empty() ? verdict.difference
                                                           : verdict.difference + " " + verdict.interval,
                          .points = {{.value = mean, .low = range.low, .high = range.high, .runs = c.seeds.size()}}});
    reach.push_back(std::max(std::isfinite(range.low) ? std::abs(range.low) : std::abs(mean),
                             std::isfinite(range.high) ? std::abs(range.high) : std::abs(mean)));
  }
  mark_outside(out, reach);
  out.x.label = with_unit("difference in " + report.metric.shown(), report.metric.unit);
  const auto sides = side_words(report.metric.direction);
  out.x.sides = {std::string(sides[0]), std::string(sides[1])};
  set_extent(out);
  const bool paired = report.test == statistics::Test::paired;
  if (report.asks_not_worse()) {
    out.caption = fmt::format("Differences from the reference{}{}; the dashed line is the margin of {}. Triangles are "
                              "better, diamonds not worse, squares worse by more than the margin; round where that is "
                              "open.{}",
                              report.within.empty() ? "" : " of each group",
                              has_intervals(report)
                                  ? fmt::format(", with {} bounds for all arms together by {}", confidence_text(report),
                                                paired ? "sign flips" : "permutations")
                                  : "",
                              *report.margin, out.is_cut ? " Arrows point to arms outside the axis." : "");
    return out;
  }
  out.caption = fmt::format("Differences from the reference{}{}{}. {}, diamonds {}; round where that is open.{}",
                            report.within.empty() ? "" : " of each group",
                            has_intervals(report)
                                ? fmt::format(", with simultaneous {} intervals by {}", confidence_text(report),
                                              paired ? "sign flips" : "permutations")
                                : "",
                            report.margin ? fmt::format("; the band is the margin of {}", *report.margin) : "",
                            report.metric.is_goal() ? "Triangles are better, squares worse" : "Triangles differ",
                            report.margin ? "the same within the margin" : "equal",
                            out.is_cut ? " Arrows point to arms outside the axis." : "");
  return out;
}

/// What lines show: a metric over steps or lengths.
struct LinesOf {
  std::function<std::vector<BandPoint>(const ReportArm&)> band;
  std::string metric; ///< for the figure's name
  std::string across; ///< "step" or "length"
  std::string up;     ///< the label of the other axis
  std::string title;
  int decimals = 4;
  bool made_lengths = false; ///< over the lengths of [train] evaluate_lengths
  bool second = false;
};

std::vector<LinesOf> all_lines(const ReportData& report) {
  const Metric& metric = report.curve_metric();
  std::vector<LinesOf> out{{.band = curve_band,
                            .metric = metric.name,
                            .across = "step",
                            .up = with_unit(metric.shown(), metric.unit),
                            .title = metric.shown() + " by training step",
                            .decimals = metric.name == report.metric.name ? TableDigits(report).common().value : 4}};
  const std::string most_wanted = metric_at_lengths(report);
  const auto by_length = [&](const std::string& family, const std::string& of, bool made) {
    const std::string& shown = report.shown_metric(of);
    out.push_back({.band = [family](const ReportArm& arm) { return length_band(arm, family); },
                   .metric = of,
                   .across = "length",
                   .up = shown,
                   .title = shown + " of sequences of each length, in the last evaluation",
                   .decimals = 3,
                   .made_lengths = made,
                   .second = made && family != most_wanted});
  };
  by_length(std::string(by_length_metric), "val_accuracy", false);
  if (!most_wanted.empty()) by_length(most_wanted, metric_of_family(most_wanted), true);
  for (const std::string& family : length_metrics(report))
    if (family != most_wanted && family == family_at_lengths(metric_of_family(family)))
      by_length(family, metric_of_family(family), true);
  out.push_back({.band = validation_band,
                 .metric = "val_loss",
                 .across = "step",
                 .up = "val_loss (nats)",
                 .title = "val_loss by training step",
                 .second = true});
  out.push_back({.band = training_band,
                 .metric = "train_loss",
                 .across = "step",
                 .up = "train_loss (nats)",
                 .title = "train_loss of the training batches by training step",
                 .second = true});
  return out;
}

/// The longest length of training, if all arms have the same, and it is among those drawn.
std::optional<double> common_training_length(const ReportData& report, const document::Axis& lengths) {
  std::set<std::int64_t> trained;
  for (const ReportArm& arm : report.arms)
    if (arm.training_length) trained.insert(*arm.training_length);
  if (trained.size() != 1) return std::nullopt;
  const auto length = static_cast<double>(*trained.begin());
  return length < lengths.low || length > lengths.high ? std::nullopt : std::optional(length);
}

/// The axis of steps or lengths. With a tick for each length of [train] evaluate_lengths, it is logarithmic if the
/// longest is at least eight times the shortest.
document::Axis axis_across(const ReportData& report, const LinesOf& lines) {
  document::Axis out{.label = lines.across};
  std::set<double> at;
  for (const ReportArm& arm : report.arms)
    for (const BandPoint& point : lines.band(arm)) at.insert(static_cast<double>(point.at));
  if (at.empty()) return out;
  std::tie(out.low, out.high) = std::pair(*at.begin(), *at.rbegin());
  if (!lines.made_lengths) return out;
  out.ticks.assign(at.begin(), at.end());
  out.logarithmic = out.high >= 8 * out.low;
  return out;
}

/// The lines of one group of arms, whose references are all in `looks` as 0.
document::Figure lines_of(const std::vector<const ReportArm*>& arms, const LinesOf& lines, const document::Axis& across,
                          const std::map<std::string, std::size_t>& looks, const ReportData& report) {
  document::Figure out{.kind = document::Figure::Kind::lines,
                       .group = report.group_label(*arms.front()),
                       .title = lines.title,
                       .second = lines.second,
                       .x = across,
                       .y = {.label = lines.up}};
  out.metric = lines.metric;
  out.name = slug(fmt::format("{} {} {}", lines.metric, lines.made_lengths ? "at lengths" : "by " + lines.across,
                              out.group),
                  "");
  std::vector<double> greatest, least;
  for (const ReportArm* arm : arms) {
    const std::vector<BandPoint> band = lines.band(*arm);
    if (band.size() < 2) continue;
    document::Series series{.name = arm->short_label(),
                            .look = report.is_reference(*arm) ? 0 : looks.at(arm->short_label()),
                            .text = fmt::format("{:.3g}", band.back().mean)};
    for (const BandPoint& point : band)
      series.points.push_back({static_cast<double>(point.at), point.mean, point.low, point.high,
                               point.standard_deviation, point.runs, fixed(point.mean, lines.decimals),
                               spread_text(point.standard_deviation, lines.decimals)});
    out.series.push_back(std::move(series));
    greatest.push_back(std::ranges::max(band, {}, &BandPoint::mean).mean);
    least.push_back(std::ranges::min(band, {}, &BandPoint::mean).mean);
  }
  mark_outside(out, greatest);
  mark_outside(out, least);
  set_extent(out);
  if (const auto chance = chance_level(report, *arms.front());
      chance && lines.across == "step" && lines.metric == report.metric.name)
    out.chance = chance->value;
  std::string outside;
  for (const document::Series& series : out.series)
    if (series.outside)
      outside += fmt::format("{}{} (at last {})", outside.empty() ? "" : ", ", series.name, series.text);
  out.caption = fmt::format("{}: the mean over seeds, and the band from the lowest to the highest.{}", out.title,
                            outside.empty() ? "" : fmt::format(" Outside the axis: {}.", outside));
  return out;
}

/// Of a report with one arm: both losses in one figure, if both are known.
void add_losses(std::vector<document::Figure>& figures) {
  const auto of = [&](const char* metric) {
    return std::ranges::find_if(figures, [&](const document::Figure& figure) {
      return figure.metric == metric && figure.x.label == "step";
    });
  };
  const auto validation = of("val_loss"), training = of("train_loss");
  if (validation == figures.end() || training == figures.end()) return;
  document::Figure out = *validation;
  out.name = "losses-by-step";
  out.metric = "losses";
  out.title = "val_loss and train_loss by training step";
  out.y.label = "loss (nats)";
  out.second = true;
  out.series.push_back(training->series.front());
  std::tie(out.series[0].name, out.series[1].name, out.series[1].look) = std::tuple("val_loss", "train_loss", 1);
  out = uncut(std::move(out));
  figures.push_back(std::move(out));
}

bool shows_something(const document::Figure& figure) {
  return std::ranges::any_of(figure.series, [](const document::Series& series) { return !series.outside; });
}

} // namespace

std::vector<document::Figure> report_figures(const ReportData& report, std::size_t every) {
  std::vector<document::Figure> out;
  if (document::Figure figure = differences(report); !figure.series.empty()) out.push_back(std::move(figure));
  if (document::Figure figure = profile_figure(report); !figure.series.empty()) out.push_back(std::move(figure));
  if (document::Figure figure = variance_figure(report); !figure.series.empty()) out.push_back(std::move(figure));
  std::map<std::string, std::size_t> looks; // of arms that are not references, in the order of the arms
  std::vector<std::vector<const ReportArm*>> groups;
  for (const ReportArm& arm : report.arms) {
    if (!report.is_reference(arm)) looks.emplace(arm.short_label(), looks.size() + 1);
    if (groups.empty() || groups.back().front()->group != arm.group) groups.emplace_back();
    groups.back().push_back(&arm);
  }
  for (const LinesOf& lines : all_lines(report)) {
    const document::Axis across = axis_across(report, lines);
    for (const std::vector<const ReportArm*>& group : groups) {
      document::Figure figure = lines_of(group, lines, across, looks, report);
      if (!shows_something(figure)) continue;
      for (document::Series& series : figure.series) series.points = thinned(std::move(series.points), every);
      if (lines.made_lengths) figure.mark = common_training_length(report, across);
      out.push_back(std::move(figure));
    }
  }
  if (report.arms.size() == 1) add_losses(out);
  return out;
}

document::Figure uncut(document::Figure figure) {
  for (document::Series& series : figure.series) series.outside = false;
  figure.is_cut = false;
  set_extent(figure);
  return figure;
}

Ticks ticks_between(double low, double high, int most) {
  constexpr int most_decimals = 4;
  const double least = (high - low) / most;
  int power = static_cast<int>(std::floor(std::log10(least) + 1e-9));
  int step = 1; // in units of ten to the power `power`
  for (const int larger : {2, 5, 10})
    if (step * std::pow(10, power) < least * (1 - 1e-9)) step = larger;
  if (step == 10) {
    step = 1;
    ++power;
  }
  Ticks ticks;
  if (power < -most_decimals) ticks.power = static_cast<int>(std::floor(std::log10(std::max(-low, high))));
  const double apart = step * std::pow(10, power);
  const int decimals = std::max(0, ticks.power - power);
  for (auto i = std::ceil(low / apart - 1e-9); i <= std::floor(high / apart + 1e-9); ++i) {
    ticks.places.push_back(i * apart + 0.0);
    ticks.labels.push_back(fixed(i * apart * std::pow(10, -ticks.power), decimals));
  }
  return ticks;
}

Ticks logarithmic_ticks(double low, double high, int most) {
  Ticks ticks;
  const int first = static_cast<int>(std::floor(std::log10(low))),
            last = static_cast<int>(std::floor(std::log10(high)));
  const auto fill = [&](std::initializer_list<int> digits, int apart) {
    ticks = {};
    for (int power = first; power <= last; power += apart)
      for (const int digit : digits)
        if (const double place = digit * std::pow(10, power); place >= low && place <= high)
          ticks.places.push_back(place), ticks.labels.push_back(fmt::format("{:g}", place));
    return ticks.places.size();
  };
  if (fill({1, 2, 3, 4, 5, 6, 7, 8, 9}, 1) < 3) return ticks_between(low, high, most);
  const auto too_many = [&] { return std::ssize(ticks.places) > most + 1; };
  if (too_many()) fill({1, 2, 5}, 1);
  for (int apart = 1; too_many(); ++apart) fill({1}, apart);
  return ticks;
}

const document::Figure& figure_named(const std::vector<document::Figure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &document::Figure::name);
  if (found != figures.end()) return *found;
  if (figures.empty()) throw Refused("this report has no figures yet, because no arm can be compared");
  throw Refused(fmt::format("there is no figure \"{}\"; figures: {}", name,
                            joined(figures, ", ", &document::Figure::name)));
}

} // namespace heed
