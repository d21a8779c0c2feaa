#include "experiments/report/variance.hpp"

#include "experiments/config/chance_sources.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/latex.hpp"
#include "experiments/report/markdown.hpp"
#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace heed {

namespace json = boost::json;

namespace {

using document::Column;
using document::FileValue;
using statistics::Interval;
using statistics::SourceVariance;

/// From here on, degrees of freedom give intervals whose upper end is at most twice the estimate.
constexpr std::size_t many_degrees = 10;

std::optional<double> value_of(const ReportRun& run, std::size_t which) {
  if (run.is_left_out()) return std::nullopt;
  if (which == 0) return run.value;
  return which - 1 < run.also.size() ? run.also[which - 1] : std::nullopt;
}

std::string in_words(const std::string& source) {
  const ChanceSource* found = find_chance_source(source);
  return found ? std::string(found->in_words) : source;
}

std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text;
}

/// A share in per cent: "60", "<1".
std::string per_cent(double share) { return share > 0 && share < 0.005 ? "<1" : fmt::format("{:.0f}", 100 * share); }

std::string share_text(const SourceVariance& source) { return per_cent(*source.share) + " %"; }

std::string share_interval(const SourceVariance& source) {
  return source.share_interval
             ? fmt::format("[{}, {}]", per_cent(source.share_interval->low), per_cent(source.share_interval->high))
             : "";
}

/// A spread and its interval, with two or three significant digits.
struct SpreadText {
  std::string value, interval;
  std::string both() const { return interval.empty() ? value : value + " " + interval; }
};

SpreadText spread_of(double spread, const std::optional<Interval>& interval) {
  if (spread == 0) return {"0", ""};
  const Decimals decimals = decimals_showing({spread}, decimals_for({spread}));
  return {fixed(spread, decimals),
          interval ? fmt::format("[{}, {}]", fixed(interval->low, decimals), fixed(interval->high, decimals)) : ""};
}

/// A row of the table.
struct VarianceRow {
  std::string key, name;
  std::size_t freedom = 0;
  std::optional<double> spread;
  std::optional<Interval> interval;
  const SourceVariance* source = nullptr; ///< null: no source
};

std::vector<VarianceRow> rows_of(const ReportData& report, std::size_t which) {
  const ReportVariation& variation = *report.variation;
  const VarianceOfMetric& of = variation.by_metric.at(which);
  std::vector<VarianceRow> out;
  for (std::size_t s = 0; s < variation.sources.size(); ++s) {
    const SourceVariance& source = of.found.sources.at(s);
    out.push_back({variation.sources[s], in_words(variation.sources[s]), source.freedom, source.standard_deviation,
                   source.interval, &source});
  }
  if (variation.sources.size() > 1)
    out.push_back({"whole", "these sources together", 0, of.found.whole, of.found.whole_interval});
  if (of.seeds_spread)
    out.push_back({"seeds", fmt::format("seeds of the sweep ({})", of.seeds), of.seeds - 1, of.seeds_spread,
                   of.seeds_interval});
  return out;
}

document::Cell spread_cell(const VarianceRow& row) {
  if (!row.spread) return {.missing = true};
  const SpreadText text = spread_of(*row.spread, row.interval);
  return {.values = {*row.spread, row.interval ? FileValue(row.interval->low) : FileValue(),
                     row.interval ? FileValue(row.interval->high) : FileValue()},
          .text = text.value,
          .interval = text.interval,
          .remark = row.source && row.source->is_without_effect() ? "(no effect)" : ""};
}

document::Cell share_cell(const VarianceRow& row) {
  if (!row.source) return {};
  if (!row.source->share) return {.missing = true};
  const auto& interval = row.source->share_interval;
  return {.values = {*row.source->share, interval ? FileValue(interval->low) : FileValue(),
                     interval ? FileValue(interval->high) : FileValue()},
          .text = share_text(*row.source),
          .interval = share_interval(*row.source)};
}

std::string cell_text(const document::Cell& cell) {
  std::string out = cell.missing ? "-" : cell.text;
  for (const std::string* more : {&cell.interval, &cell.remark})
    if (!more->empty()) out += " " + *more;
  return out;
}

bool is_many(const std::string& source) { return in_words(source).ends_with('s'); } // "initial weights"

/// The indices of the sources with a share, the largest first.
std::vector<std::size_t> by_share(const statistics::VarianceSources& found) {
  std::vector<std::size_t> order(found.sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t s) { return !found.sources[s].share; });
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t s) { return *found.sources[s].share; });
  return order;
}

json::object run_json(const ReportRun& run, const std::string& label) {
  return {{"id", run.id},
          {"label", label},
          {"seed", run.seed},
          {"state", run.status()},
          {"value", json_number(run.value)},
          {"problem", run.problem}};
}

} // namespace

void compute_variance(ReportData& report, const Variation& planned) {
  ReportVariation& variation = *report.variation;
  std::map<std::string, const ReportRun*> runs;
  for (const ReportArm& arm : report.arms) // a run of another arm can be one of the variation
    for (const ReportRun& run : arm.runs) runs.emplace(run.id, &run);
  for (const ReportRun& run : variation.runs) runs.emplace(run.id, &run);
  std::set<std::string> ids;
  for (const Variation::Fixing& fixing : planned.fixings) {
    ids.insert(fixing.base);
    for (const std::vector<std::string>& varied : fixing.varied) ids.insert(varied.begin(), varied.end());
  }
  variation.planned = ids.size();
  for (const std::string& id : ids) {
    const ReportRun& run = *runs.at(id);
    if (value_of(run, 0)) continue;
    ++(run.is_excluded() ? variation.lost : variation.open);
  }
  for (std::size_t which = 0; which <= report.also.size(); ++which) {
    std::vector<statistics::SourceValues> values(planned.sources.size());
    for (const Variation::Fixing& fixing : planned.fixings)
      for (std::size_t s = 0; s < planned.sources.size(); ++s) {
        std::vector<double>& of_fixing = values[s].emplace_back();
        const auto add = [&](const std::string& id) {
          const auto found = runs.find(id);
          if (found == runs.end()) return;
          if (const auto value = value_of(*found->second, which)) of_fixing.push_back(*value);
        };
        add(fixing.base);
        std::ranges::for_each(fixing.varied.at(s), add);
      }
    VarianceOfMetric& out = variation.by_metric.emplace_back();
    out.found = statistics::variance_sources(values, report.resolution);
    std::vector<double> of_seeds;
    for (const ReportRun& run : report.arms.front().runs)
      if (const auto value = value_of(run, which)) of_seeds.push_back(*value);
    out.seeds = of_seeds.size();
    out.seeds_spread = statistics::standard_deviation(of_seeds);
    if (out.seeds_spread && *out.seeds_spread > 0)
      out.seeds_interval = statistics::interval_of_spread(*out.seeds_spread, out.seeds - 1);
  }
}

void each_variance(const ReportData& report, const std::function<void(std::size_t)>& use) {
  if (!report.variation) return;
  for (std::size_t which = 0; which < report.variation->by_metric.size(); ++which) use(which);
}

const Metric& metric_of_variance(const ReportData& report, std::size_t which) {
  return which == 0 ? report.metric : report.also.at(which - 1);
}

document::Table variance_table(const ReportData& report, std::size_t which) {
  document::Table out;
  using Kind = Column::Kind;
  using Detail = Column::Detail;
  out.columns = {
      {.keys = {"source"}, .title = "source", .kind = Kind::name, .detail = Detail::main},
      {.keys = {"metric"}},
      {.keys = {"standard_deviation", "standard_deviation_low", "standard_deviation_high"},
       .title = "standard deviation [95 %]",
       .kind = Kind::number,
       .detail = Detail::main},
      {.keys = {"share", "share_low", "share_high"},
       .title = "share of the variance [95 %]",
       .kind = Kind::number,
       .detail = Detail::main},
      {.keys = {"degrees_of_freedom"}, .title = "degrees of freedom", .kind = Kind::count, .detail = Detail::main}};
  for (const VarianceRow& row : rows_of(report, which)) {
    document::Cell freedom;
    if (row.freedom > 0)
      freedom = {.values = {static_cast<std::int64_t>(row.freedom)}, .text = fmt::format("{}", row.freedom)};
    out.rows.push_back({"",
                        row.name,
                        false,
                        {document::Cell{.values = {row.key}, .text = row.name},
                         document::Cell{.values = {metric_of_variance(report, which).name}}, spread_cell(row),
                         share_cell(row), std::move(freedom)}});
  }
  return out;
}

TextTable variance_text_table(const ReportData& report, std::size_t which) {
  const document::Table table = variance_table(report, which);
  TextTable out;
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].detail != Column::Detail::main) continue;
    shown.push_back(c);
    out.add_column(table.columns[c].title, table.columns[c].is_number() ? Align::right : Align::left);
  }
  for (const document::Row& row : table.rows) {
    std::vector<std::string>& cells = out.rows.emplace_back();
    for (const std::size_t c : shown) cells.push_back(cell_text(row.cells[c]));
  }
  return out;
}

std::string variance_title(const ReportData& report, std::size_t which) {
  return fmt::format("Where the variance of {} comes from", metric_of_variance(report, which).shown());
}

std::vector<std::string> variance_sentences(const ReportData& report, std::size_t which) {
  const ReportVariation& variation = *report.variation;
  const statistics::VarianceSources& found = variation.by_metric.at(which).found;
  const std::string metric = metric_of_variance(report, which).shown();
  std::vector<std::string> out;
  for (const std::size_t s : by_share(found)) {
    const std::string interval = share_interval(found.sources[s]);
    out.push_back(fmt::format("{} {} {}{} of the variance of {}.", capital(in_words(variation.sources[s])),
                              is_many(variation.sources[s]) ? "make" : "makes", share_text(found.sources[s]),
                              interval.empty() ? "" : " " + interval, metric));
  }
  for (std::size_t s = 0; s < found.sources.size(); ++s) {
    const SourceVariance& source = found.sources[s];
    const std::string name = capital(in_words(variation.sources[s]));
    const bool many = is_many(variation.sources[s]);
    if (!source.standard_deviation)
      out.push_back(fmt::format("{}: nothing is known yet, because no fixing has two runs with {}.", name, metric));
    else if (source.is_without_effect())
      out.push_back(fmt::format("{} {} no effect on {}: within each fixing, all runs have the same value.", name,
                                many ? "have" : "has", metric));
    else if (!source.share)
      out.push_back(fmt::format("{} {} {} a standard deviation of {}.", name, many ? "give" : "gives", metric,
                                spread_of(*source.standard_deviation, source.interval).both()));
  }
  return out;
}

std::string variance_note(const ReportData& report) {
  if (!report.variation) return "";
  const ReportVariation& variation = *report.variation;
  const statistics::VarianceSources& found = variation.by_metric.front().found;
  const auto effective = std::ranges::count_if(found.sources, [](const auto& source) { return !!source.interval; });
  std::vector<std::string> names;
  for (const std::string& source : variation.sources) names.push_back(in_words(source));
  std::string out = fmt::format(
      "runs of {} in which one source of chance varies and the others are fixed: {} values of each source in each of "
      "{} fixing{}. The standard deviation is pooled over the fixings, with its 95 % interval by the chi-squared "
      "distribution.",
      report.arms.size() == 1 ? "the configuration" : "the reference", variation.values, variation.fixings,
      variation.fixings == 1 ? "" : "s");
  if (variation.sources.size() > 1) {
    out += " A share is a source's variance divided by the sum of the variances of these sources";
    if (effective > 1)
      out += fmt::format(", with its 95 % interval {}", effective == 2 ? "by the F distribution"
                                                                       : "by draws from their chi-squared "
                                                                         "distributions");
    out += "; all of them together have the root of this sum.";
  }
  if (variation.by_metric.front().seeds_spread) {
    const bool split = std::ranges::find(variation.sources, "split") != variation.sources.end();
    out += fmt::format(" The seeds of the sweep vary initial weights, order of data and dropout together{}.",
                       split ? ", and share the split" : "");
  }
  const auto few = std::ranges::find_if(found.sources, [](const SourceVariance& source) {
    return source.freedom > 0 && source.freedom < many_degrees;
  });
  if (few != found.sources.end() && few->interval)
    out +=
        fmt::format(" {} degree{} of freedom are few: the true standard deviation may be {:.1f} times as large as the "
                    "estimate. More fixings (sweep.vary_fixings) narrow the intervals.",
                    few->freedom, few->freedom == 1 ? "" : "s", few->interval->high / *few->standard_deviation);
  out +=
      " The intervals hold for normal values, and are too narrow for values with long tails. Where the effect of one "
      "source depends on another, both contain it, and their sum exceeds the spread over seeds.";
  if (variation.open + variation.lost > 0)
    out += fmt::format(" {} of {} runs have no value{}.", variation.open + variation.lost, variation.planned,
                       variation.lost == 0 ? " yet" : fmt::format(": {} failed or cannot be used", variation.lost));
  return out;
}

document::Figure variance_figure(const ReportData& report) {
  document::Figure out{.kind = document::Figure::Kind::bars, .name = "variance"};
  if (!report.variation) return out;
  out.metric = report.metric.name;
  out.title = variance_title(report, 0);
  out.x.label = fmt::format("standard deviation of {}{}", report.metric.shown(),
                            report.metric.unit.empty() ? "" : fmt::format(" ({})", report.metric.unit));
  double greatest = 0;
  bool known = false;
  for (const VarianceRow& row : rows_of(report, 0)) {
    if (!row.spread) continue;
    const Interval range = row.interval.value_or(Interval{*row.spread, *row.spread});
    greatest = std::max(greatest, range.high);
    known = known || row.source;
    out.series.push_back({.name = row.name,
                          .look = row.source ? 1U : 0U,
                          .has_range = row.interval.has_value(),
                          .text = spread_of(*row.spread, row.interval).both(),
                          .points = {
                              {.value = *row.spread, .low = range.low, .high = range.high, .runs = row.freedom}}});
  }
  if (!known) out.series.clear();
  out.x.high = greatest > 0 ? 1.05 * greatest : 1;
  out.caption = fmt::format("{}: the standard deviation over runs in which one source varies and the others are fixed, "
                            "with 95 % intervals.",
                            out.title);
  return out;
}

json::value variance_json(const ReportData& report) {
  if (!report.variation) return nullptr;
  const ReportVariation& variation = *report.variation;
  json::array metrics, runs;
  each_variance(report, [&](std::size_t which) {
    metrics.push_back(json::object{{"metric", metric_of_variance(report, which).name},
                                   {"title", variance_title(report, which)},
                                   {"table", table_json(variance_table(report, which))},
                                   {"sentences", json_list(variance_sentences(report, which))}});
  });
  for (std::size_t r = 0; r < variation.runs.size(); ++r)
    runs.push_back(run_json(variation.runs[r], variation.labels.at(r)));
  return json::object{
      {"sources", json_list(variation.sources)}, {"values", variation.values},    {"fixings", variation.fixings},
      {"note", variance_note(report)},           {"metrics", std::move(metrics)}, {"runs", std::move(runs)}};
}

std::string variance_markdown(const ReportData& report) {
  std::string out;
  each_variance(report, [&](std::size_t which) {
    out += fmt::format("{}## {}\n\n{}\n", out.empty() ? "" : "\n", markdown_text(variance_title(report, which)),
                       to_markdown(variance_text_table(report, which)));
    for (const std::string& sentence : variance_sentences(report, which))
      out += fmt::format("- {}\n", markdown_text(sentence));
  });
  return out;
}

std::string variance_latex(const ReportData& report) {
  std::string out;
  each_variance(report, [&](std::size_t which) {
    const TextTable table = variance_text_table(report, which);
    const auto row = [](const std::vector<std::string>& cells) {
      std::string line = "    ";
      for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : " & ") + latex_text(cells[i]);
      return line + " \\\\\n";
    };
    out += "\n\\begin{itemize}\n";
    for (const std::string& sentence : variance_sentences(report, which))
      out += fmt::format("  \\item {}\n", latex_text(sentence));
    out += fmt::format("\\end{{itemize}}\n\\begin{{table}}[htbp]\n  \\centering\\small\n"
                       "  \\caption{{{}.}}\\label{{{}}}\\smallskip\n"
                       "  \\heedfit{{\\begin{{tabular}}{{lrrr}}\n    \\toprule\n{}    \\midrule\n",
                       latex_text(variance_title(report, which)),
                       latex_label(report, "tab", "variance-" + metric_of_variance(report, which).name),
                       row(table.headings));
    for (const std::vector<std::string>& cells : table.rows) out += row(cells);
    out += "    \\bottomrule\n  \\end{tabular}}\n\\end{table}\n";
  });
  return out;
}

} // namespace heed
