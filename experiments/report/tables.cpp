#include "experiments/report/tables.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace heed {

namespace {

using document::Column;
using document::FileValue;
using Kind = Column::Kind;
using Detail = Column::Detail;

FileValue value_of(std::optional<double> number) {
  return number && std::isfinite(*number) ? FileValue(*number) : FileValue();
}
FileValue value_of(bool known, std::size_t count) {
  return known ? FileValue(static_cast<std::int64_t>(count)) : FileValue();
}
FileValue text_value(std::string text) { return text.empty() ? FileValue() : FileValue(std::move(text)); }

/// What the cells of a row are made from.
struct RowOf {
  const ReportData& report;
  const ReportArm& arm;
  Digits digits;
  std::optional<Verdict> verdict; ///< empty for the reference, and without a comparison
  const statistics::Comparison* c() const { return arm.comparison ? &*arm.comparison : nullptr; }
};

using MakeCell = std::function<document::Cell(const RowOf&)>;

/// Makes the columns and their cells, one after the other.
class Builder {
public:
  explicit Builder(const ReportData& report) : report_(report) {}

  /// A column that people see if `shown`; programs always see it.
  void add(Column column, bool shown, MakeCell make) {
    if (!shown) {
      column.detail = Detail::files;
      column.title.clear();
    }
    table_.columns.push_back(std::move(column));
    makers_.push_back(std::move(make));
  }

  /// A number of the arm that only programs see.
  void file(std::string key, FileValue (*of)(const RowOf&)) {
    add({.keys = {std::move(key)}}, false, [of](const RowOf& row) { return document::Cell{.values = {of(row)}}; });
  }
  /// Numbers of the comparison that only programs see.
  void comparison(std::string key, std::optional<double> (*of)(const statistics::Comparison&)) {
    add({.keys = {std::move(key)}}, false,
        [of](const RowOf& row) { return document::Cell{.values = {row.c() ? value_of(of(*row.c())) : FileValue()}}; });
  }
  void interval(const std::string& key, std::optional<statistics::Interval> (*of)(const statistics::Comparison&)) {
    add({.keys = {key + "_low", key + "_high"}}, false, [of](const RowOf& row) {
      const auto found = row.c() ? of(*row.c()) : std::nullopt;
      return found ? document::Cell{.values = {value_of(found->low), value_of(found->high)}} : document::Cell();
    });
  }

  document::Table table() {
    add_rows(report_);
    if (report_.overall) add_rows(*report_.overall);
    return std::move(table_);
  }

private:
  void add_rows(const ReportData& report) {
    const TableDigits digits(report);
    for (const ReportArm& arm : report.arms) {
      poll_caller();
      RowOf of{report, arm, digits.of(arm), std::nullopt};
      if (arm.comparison) of.verdict = verdict_of(*arm.comparison, report.metric, of.digits.difference);
      document::Row row{report.group_label(arm), arm.short_label(), report.is_reference(arm), {}};
      for (const MakeCell& make : makers_) row.cells.push_back(make(of));
      table_.rows.push_back(std::move(row));
    }
  }

  const ReportData& report_;
  document::Table table_;
  std::vector<MakeCell> makers_;
};

document::Cell mean_cell(const RowOf& row) {
  const ReportArm& arm = row.arm;
  document::Cell out{.values = {value_of(arm.mean), value_of(arm.standard_deviation)}, .missing = !arm.mean};
  if (!arm.mean) return out;
  out.text = fixed(arm.mean, row.digits.value);
  if (arm.standard_deviation) out.spread = "± " + fixed(arm.standard_deviation, row.digits.value);
  return out;
}

document::Cell difference_cell(const RowOf& row) {
  if (!row.c()) return {};
  const auto& interval = row.c()->interval;
  document::Cell out{.values = {value_of(row.c()->difference.mean), interval ? value_of(interval->low) : FileValue(),
                                interval ? value_of(interval->high) : FileValue()},
                     .text = row.verdict->difference,
                     .interval = row.verdict->interval,
                     .in_words = row.verdict->answer == AnswerWord::equal};
  if (!out.interval.empty()) out.mark = row.verdict->answer;
  return out;
}

document::Cell p_cell(const RowOf& row) {
  if (!row.c() || !row.c()->p) return {.missing = row.c() != nullptr};
  std::string remark = earlier_look_text(row.report, row.arm);
  if (remark.starts_with(' ')) remark.erase(0, 1);
  return {.values = {value_of(row.c()->p)}, .text = probability(*row.c()->p), .remark = std::move(remark)};
}

document::Cell answer_cell(const RowOf& row) {
  if (row.report.is_reference(row.arm)) return {};
  const AnswerWord answer = answer_word(row.arm.comparison, row.report.metric);
  document::Cell out{.values = {std::string(name_of(answer))}, .mark = answer};
  out.text = row.c() ? std::string(name_of(answer)) : missing_answer(row.arm);
  return out;
}

/// A number of two decimals without a unit, such as an effect size.
document::Cell ratio_cell(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return {};
  return {.values = {*number}, .text = fixed(number, 2)};
}

document::Cell amount_cell(FileValue value, double amount, std::string text) {
  if (!(amount > 0)) return {.missing = true};
  return {.values = {std::move(value)}, .text = std::move(text)};
}

/// Whether arms differ by more than a hundredth in the memory of a run; a smaller difference says nothing.
bool memory_differs(const ReportData& report) {
  double least = 0, most = 0;
  for (const ReportArm& arm : report.arms)
    if (arm.cost && arm.cost->bytes > 0) {
      least = least == 0 ? arm.cost->bytes : std::min(least, arm.cost->bytes);
      most = std::max(most, arm.cost->bytes);
    }
  return most > 1.01 * least;
}

void add_values(Builder& builder, const ReportData& report) {
  builder.add({.keys = {"arm"}, .title = "arm", .kind = Kind::name, .detail = Detail::main}, true,
              [](const RowOf& row) { return document::Cell{.values = {row.arm.true_label()}, .text = row.arm.label}; });
  builder.file("changes", [](const RowOf& row) { return text_value(in_words(row.arm.changes, "; ")); });
  builder.file("group", [](const RowOf& row) { return text_value(row.report.group_label(row.arm)); });
  builder.file("reference", [](const RowOf& row) {
    return row.report.is_reference(row.arm) ? FileValue() : FileValue(row.report.arms[row.arm.reference].true_label());
  });
  builder.file("metric", [](const RowOf& row) { return FileValue(row.report.metric.name); });
  builder.add({.keys = {"n"}, .title = "n", .kind = Kind::count, .detail = Detail::main}, true, [](const RowOf& row) {
    return document::Cell{.values = {value_of(true, row.arm.values)}, .text = fmt::format("{}", row.arm.values)};
  });
  builder.add({.keys = {"mean", "standard_deviation"},
               .title = report.metric.shown(),
               .kind = Kind::number,
               .detail = Detail::main},
              true, mean_cell);
  builder.file("interquartile_mean", [](const RowOf& row) { return value_of(row.arm.interquartile_mean); });
  builder.file("look", [](const RowOf& row) { return value_of(row.arm.look > 0, row.arm.look); });
  builder.file("pairs", [](const RowOf& row) {
    return value_of(row.c() != nullptr, row.c() ? static_cast<std::size_t>(row.c()->difference.pairs) : 0);
  });
}

void add_comparison(Builder& builder, const ReportData& report) {
  using statistics::Comparison;
  using Estimates = std::optional<statistics::Interval>;
  const auto any = [&](const auto& holds) {
    return std::ranges::any_of(report.arms,
                               [&](const ReportArm& arm) { return arm.comparison && holds(*arm.comparison); });
  };
  const bool compared = any([](const Comparison&) { return true; });
  const bool answered = compared || std::ranges::any_of(report.arms, [](const ReportArm& arm) {
                          return !missing_answer(arm).empty();
                        });
  builder.add({.keys = {"difference", "difference_low", "difference_high"},
               .title = fmt::format("difference [{}]", confidence_text(report)),
               .kind = Kind::number,
               .detail = Detail::main},
              compared, difference_cell);
  builder.interval("difference_flips", [](const Comparison& c) { return c.interval_flips; });
  builder.interval("difference_student", [](const Comparison& c) { return c.difference.interval; });
  builder.comparison("difference_standard_deviation",
                     [](const Comparison& c) { return c.difference.standard_deviation; });
  builder.comparison("interquartile_difference", [](const Comparison& c) {
    return c.interquartile ? std::optional(c.interquartile->value) : std::nullopt;
  });
  builder.interval("interquartile_difference",
                   [](const Comparison& c) { return c.interquartile ? c.interquartile->interval : Estimates(); });
  builder.comparison("correlation", [](const Comparison& c) { return c.correlation; });
  builder.add({.keys = {"p"}, .title = "p", .kind = Kind::probability, .detail = Detail::main},
              any([](const Comparison& c) { return c.p.has_value(); }), p_cell);
  builder.comparison("p_flip", [](const Comparison& c) { return c.p_flip; });
  builder.comparison("p_holm", [](const Comparison& c) { return c.p_holm; });
  builder.comparison("margin", [](const Comparison& c) {
    return c.noninferiority ? std::optional(c.noninferiority->margin) : c.margin;
  });
  builder.comparison("p_equivalence", [](const Comparison& c) { return c.p_equivalence; });
  builder.comparison("p_equivalence_flips", [](const Comparison& c) { return c.p_equivalence_flips; });
  if (report.asks_not_worse()) {
    builder.comparison("p_better", [](const Comparison& c) {
      return c.noninferiority ? std::optional(c.noninferiority->p_better) : std::nullopt;
    });
    builder.comparison("p_worse",
                       [](const Comparison& c) { return c.noninferiority ? c.noninferiority->p_worse : std::nullopt; });
  }
  builder.add({.keys = {"answer"}, .title = "answer", .kind = Kind::answer, .detail = Detail::main}, answered,
              answer_cell);
  builder.add({.keys = {"sentence"}}, false, [digits = TableDigits(report), &report](const RowOf& row) {
    return document::Cell{
        .values = {text_value(answer_sentence(row.report, row.arm,
                                              &row.report == &report ? digits : TableDigits(row.report)))}};
  });
  builder.add({.keys = {"effect_size"},
               .title = "d",
               .kind = Kind::number,
               .detail = Detail::page,
               .folds = true,
               .about = "the size of the difference compared with its scatter: the mean of the differences divided by "
                        "their standard deviation over the seeds (d_z, corrected for few seeds as by Hedges). At 1 or "
                        "-1, the difference is as large as its standard deviation."},
              any([](const Comparison& c) { return c.effect_size.has_value(); }),
              [](const RowOf& row) { return row.c() ? ratio_cell(row.c()->effect_size) : document::Cell(); });
  builder.add({.keys = {"improvement"},
               .title = "P(better)",
               .kind = Kind::number,
               .detail = Detail::page,
               .folds = true,
               .about = "how often the arm is better than the reference: the share of the seeds in which it is, with "
                        "ties counted half. 1 is in every seed, 0.5 in as many as not, 0 in none."},
              any([](const Comparison& c) { return c.improvement.has_value(); }), [](const RowOf& row) {
                return row.c() && row.c()->improvement ? ratio_cell(row.c()->improvement->value) : document::Cell();
              });
  builder.interval("improvement",
                   [](const Comparison& c) { return c.improvement ? c.improvement->interval : Estimates(); });
  builder.file("learned", [](const RowOf& row) {
    return value_of(row.arm.learned.has_value(), row.arm.learned ? row.arm.learned->arm.seeds : 0);
  });
  builder.file("learned_of", [](const RowOf& row) {
    return value_of(row.arm.learned.has_value(), row.arm.learned ? row.arm.learned->arm.of : 0);
  });
  builder.file("learned_from",
               [](const RowOf& row) { return row.arm.learned ? value_of(row.arm.learned->threshold) : FileValue(); });
  builder.file("p_learned",
               [](const RowOf& row) { return row.arm.learned ? value_of(row.arm.learned->p) : FileValue(); });
  builder.file("p_failed_worst", [](const RowOf& row) { return value_of(row.arm.p_failed_worst); });
  builder.file("p_choices", [](const RowOf& row) { return value_of(row.arm.p_choices); });
  builder.file("ranked", [](const RowOf& row) { return row.c() ? FileValue(row.c()->ranked) : FileValue(); });
  builder.comparison("p_spreads", [](const Comparison& c) { return c.p_spreads; });
}

void add_costs(Builder& builder, const ReportData& report) {
  const auto any = [&](const auto& holds) { return std::ranges::any_of(report.arms, holds); };
  builder.add(
      {.keys = {"parameters"}, .title = "parameters", .kind = Kind::amount, .detail = Detail::main, .folds = true},
      !report.table || any(has_cost), [](const RowOf& row) {
        const std::int64_t count = row.arm.cost ? row.arm.cost->parameters : 0;
        return amount_cell(count, static_cast<double>(count), with_commas(count));
      });
  const auto flops = [](const ReportArm& arm) { return arm.cost ? arm.cost->flops_per_step : 0; };
  builder.add({.keys = {"flops_per_step"},
               .title = "FLOPs a step",
               .kind = Kind::amount,
               .detail = Detail::page,
               .folds = true,
               .about = "floating-point operations of one training step."},
              any([&](const ReportArm& arm) { return flops(arm) > 0; }), [flops](const RowOf& row) {
                return amount_cell(flops(row.arm), flops(row.arm), scaled(flops(row.arm), ""));
              });
  builder.add({.keys = {"state_size"},
               .title = "state",
               .kind = Kind::amount,
               .detail = Detail::main,
               .folds = true,
               .about = "numbers that decoding stores for one sequence, once the longest one is read: keys and values, "
                        "or states of recurrences. In float32, a number takes 4 bytes."},
              state_differs(report), [](const RowOf& row) {
                const std::int64_t size = row.arm.cost ? row.arm.cost->state_size.value_or(0) : 0;
                return amount_cell(size, static_cast<double>(size), with_commas(size));
              });
  builder.add({.keys = {"seconds"}, .title = "time", .kind = Kind::amount, .detail = Detail::main, .folds = true},
              !report.table || any(has_time), [](const RowOf& row) {
                return amount_cell(row.arm.seconds, row.arm.seconds, duration(row.arm.seconds));
              });
  builder.add({.keys = {"bytes"},
               .title = "memory",
               .kind = Kind::amount,
               .detail = Detail::page,
               .folds = true,
               .about = "the most that a run on one thread holds at a time."},
              memory_differs(report), [](const RowOf& row) {
                const double bytes = row.arm.cost ? row.arm.cost->bytes : 0;
                return amount_cell(bytes, bytes, scaled(bytes, "B"));
              });
  if (report.table)
    builder.file("made", [](const RowOf& row) {
      return FileValue(fmt::format("elsewhere, read from {}; no plan was frozen", row.report.table->file));
    });
}

} // namespace

bool state_differs(const ReportData& report) {
  std::set<std::optional<std::int64_t>> sizes;
  for (const ReportArm& arm : report.arms)
    if (arm.cost) sizes.insert(arm.cost->state_size);
  return sizes.size() > 1;
}

document::Table arm_table(const ReportData& report) {
  Builder builder(report);
  add_values(builder, report);
  add_comparison(builder, report);
  add_costs(builder, report);
  return builder.table();
}

TextTable band_table(const ReportData& report, const std::function<std::vector<BandPoint>(const ReportArm&)>& band_of,
                     const std::function<std::string(const BandPoint&)>& cell_of) {
  constexpr std::size_t most_columns = 8;
  std::set<std::int64_t> measured, shown;
  std::vector<std::vector<BandPoint>> bands;
  for (const ReportArm& arm : report.arms) {
    bands.push_back(band_of(arm));
    for (const BandPoint& point : bands.back()) measured.insert(point.at);
  }
  const std::vector<std::int64_t> all(measured.begin(), measured.end());
  const std::size_t columns = std::min(most_columns, all.size());
  for (std::size_t i = 0; i < columns; ++i) shown.insert(all[columns == 1 ? 0 : i * (all.size() - 1) / (columns - 1)]);

  TextTable table{{"arm"}, {Align::left}, {}};
  for (const std::int64_t place : shown) table.add_column(fmt::format("{}", place));
  for (std::size_t a = 0; a < bands.size(); ++a) {
    std::vector<std::string> row{report.arms[a].label};
    for (const std::int64_t place : shown) {
      const auto point = std::ranges::find(bands[a], place, &BandPoint::at);
      row.push_back(point == bands[a].end() ? "-" : cell_of(*point));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

TextTable length_table(const ReportData& report, const std::string& metric) {
  return band_table(
      report, [&](const ReportArm& arm) { return length_band(arm, metric); },
      [](const BandPoint& point) {
        return fixed(point.mean, 3) + (point.standard_deviation ? " ± " + fixed(point.standard_deviation, 3) : "");
      });
}

std::string length_table_caption(const ReportData& report, const std::string& metric) {
  const bool own = metric == by_length_metric;
  const std::string of = own ? "val_accuracy" : metric_of_family(metric);
  return fmt::format("{} {}{}.", report.shown_metric(of),
                     own ? "by the sequences' own lengths" : "on sequences of each length of [train] evaluate_lengths",
                     report.seeds.size() > 1 ? ": mean ± standard deviation over the seeds" : "");
}

} // namespace heed
