// Tests of what reports say of the sources of variance ([sweep] vary).
#include "experiments/report/variance.hpp"

#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_picture.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/made_up_sweep.hpp"

#include <boost/json/serialize.hpp>
#include <cmath>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

ReportRun run_of(const std::string& id, std::optional<double> value) {
  ReportRun run;
  run.id = id;
  run.state = value ? RunState::finished : RunState::missing;
  run.value = value;
  if (value) run.also = {100 * *value};
  return run;
}

/// Two fixings of three values. `by` has, for each source, its values beside the fixings' own.
ReportData report_of(const std::vector<std::string>& sources,
                     const std::vector<std::vector<std::vector<std::optional<double>>>>& by, bool two_arms = false) {
  ReportData report = sweep_of(loss, two_arms
                                         ? std::vector<std::pair<std::string, Values>>{{"reference", {1.0, 2.0}},
                                                                                       {"score = additive", {1.1, 2.2}}}
                                         : std::vector<std::pair<std::string, Values>>{{"reference", {1.0, 2.0}}});
  report.name = "which sources";
  report.sweep = true;
  for (std::size_t f = 0; f < 2; ++f) {
    report.arms[0].runs[f].id = "base" + std::to_string(f);
    report.arms[0].runs[f].also = {100 * *report.arms[0].runs[f].value};
  }
  Variation planned;
  planned.sources = sources;
  planned.values = 3;
  ReportVariation variation;
  variation.sources = sources;
  variation.values = 3;
  variation.fixings = 2;
  for (std::size_t f = 0; f < 2; ++f) {
    Variation::Fixing& fixing = planned.fixings.emplace_back(Variation::Fixing{"base" + std::to_string(f), {}});
    for (std::size_t s = 0; s < sources.size(); ++s) {
      std::vector<std::string>& ids = fixing.varied.emplace_back();
      for (std::size_t v = 0; v < by[s][f].size(); ++v) {
        ids.push_back(std::to_string(f) + sources[s] + std::to_string(v));
        variation.runs.push_back(run_of(ids.back(), by[s][f][v]));
        variation.labels.push_back("fixing " + std::to_string(f + 1) + ", " + sources[s]);
      }
    }
  }
  report.variation = std::move(variation);
  compute_variance(report, planned);
  return report;
}

/// Initial weights with s^2 = 0.01 and the order of data with 0.03, each in two fixings around the replicates 1 and 2.
ReportData both(bool two_arms = false) {
  const double init = 0.1, order = std::sqrt(0.03);
  return report_of({"init", "order"},
                   {{{1 - init, 1 + init}, {2 - init, 2 + init}}, {{1 - order, 1 + order}, {2 - order, 2 + order}}},
                   two_arms);
}

} // namespace

TEST_CASE("shares of the variance, the largest first", "[report][vary]") {
  const ReportData report = both();
  const statistics::VarianceSources& found = report.variation->by_metric.front().found;
  CHECK(found.sources[0].freedom == 4);
  CHECK(found.sources[0].standard_deviation.value() == Approx(0.1));
  CHECK(found.sources[1].share.value() == Approx(0.75));
  CHECK(found.whole.value() == Approx(0.2));
  CHECK(report.variation->by_metric.front().seeds_spread.value() == Approx(std::sqrt(0.5)));
  // SciPy: f.ppf([0.975, 0.025], 4, 4) is 9.6045 and 0.10412, so 3 / (3 + F) is from 0.238 to 0.966
  CHECK(variance_sentences(report, 0) ==
        std::vector<std::string>{"Order of data makes 75 % [24, 97] of the variance of val_loss.",
                                 "Initial weights make 25 % [3, 76] of the variance of val_loss."});
  const TextTable table = variance_text_table(report, 0);
  CHECK(table.headings == std::vector<std::string>{"source", "standard deviation [95 %]",
                                                   "share of the variance [95 %]", "degrees of freedom"});
  CHECK(table.rows[0] == std::vector<std::string>{"initial weights", "0.10 [0.06, 0.29]", "25 % [3, 76]", "4"});
  CHECK(table.rows[2][0] == "these sources together");
  CHECK(table.rows[3] == std::vector<std::string>{"seeds of the sweep (2)", "0.71 [0.32, 22.56]", "", "1"});
  CHECK_THAT(variance_note(report), Contains("3 values of each source in each of 2 fixings") &&
                                        Contains("by the F distribution") && Contains("4 degrees of freedom are few") &&
                                        Contains("too narrow for values with long tails"));
  CHECK(note(report, "variance"));
}

TEST_CASE("a source without effect is 0 and has no share", "[report][vary]") {
  const ReportData report = report_of({"init", "dropout"}, {{{1.1, 1.2}, {2.1, 2.3}}, {{1.0, 1.0}, {2.0, 2.0}}});
  CHECK(variance_sentences(report, 0) ==
        std::vector<std::string>{
            "Initial weights make 100 % of the variance of val_loss.",
            "Dropout has no effect on val_loss: within each fixing, all runs have the same value."});
  CHECK(variance_text_table(report, 0).rows[1] == std::vector<std::string>{"dropout", "0 (no effect)", "-", "4"});
  const ReportData none = report_of({"init"}, {{{1.0, 1.0}, {2.0, 2.0}}});
  CHECK(variance_sentences(none, 0).size() == 1);
  CHECK_FALSE(none.variation->by_metric.front().found.sources[0].share);
}

TEST_CASE("one source has a spread and no share, and missing runs are counted", "[report][vary]") {
  const ReportData report = report_of({"split"}, {{{1.1, std::nullopt}, {2.1, 2.3}}});
  CHECK_THAT(variance_sentences(report, 0).at(0), Contains("Data split gives val_loss a standard deviation of 0."));
  CHECK(report.variation->by_metric.front().found.sources[0].freedom == 3);
  CHECK(report.variation->planned == 6);
  CHECK(report.variation->open == 1);
  CHECK_THAT(variance_note(report), Contains("1 of 6 runs have no value yet.") && Contains("and share the split"));
  CHECK(report.total() == 6);
  CHECK(report.count(RunState::missing) == 1);

  const ReportData early = report_of({"init", "order"}, {{{1.1, 1.2}, {2.1, 2.2}},
                                                         {{std::nullopt, std::nullopt}, {std::nullopt, std::nullopt}}});
  const std::vector<std::string> sentences = variance_sentences(early, 0);
  CHECK_THAT(sentences.at(0), Contains("Initial weights give val_loss a standard deviation of"));
  CHECK_THAT(sentences.at(1), Contains("Order of data: nothing is known yet"));
}

TEST_CASE("further metrics have a table of their own", "[report][vary]") {
  ReportData report = both();
  report.also.push_back({"val_accuracy", Direction::higher, "", "share of right tokens", 0, 1});
  Variation planned{.sources = {"init", "order"}, .values = 3, .fixings = {}, .runs = {}, .labels = {}};
  for (std::size_t f = 0; f < 2; ++f) {
    const std::string n = std::to_string(f);
    planned.fixings.push_back({"base" + n, {{n + "init0", n + "init1"}, {n + "order0", n + "order1"}}});
  }
  report.variation->by_metric.clear();
  report.variation->open = report.variation->lost = 0;
  compute_variance(report, planned);
  REQUIRE(report.variation->by_metric.size() == 2);
  CHECK(report.variation->by_metric[1].found.sources[0].standard_deviation.value() == Approx(10));
  CHECK_THAT(variance_sentences(report, 1).at(0), Contains("75 % [24, 97] of the variance of val_accuracy"));
}

TEST_CASE("every format has the sources of variance", "[report][vary]") {
  for (const bool two_arms : {false, true}) {
    const ReportData report = both(two_arms);
    const std::string sentence = "Order of data makes 75 % [24, 97] of the variance of val_loss.";
    CHECK_THAT(render_terminal(report, Style{}), Contains(sentence) && Contains("these sources together"));
    CHECK_THAT(render_markdown(report), Contains("## Where the variance of val_loss comes from") &&
                                            Contains(sentence) && Contains("| initial weights |"));
    CHECK_THAT(render_latex(report), Contains("Order of data makes 75\\,\\% {[}24, 97{]}") &&
                                         Contains("\\label{tab:which-sources-variance-val-loss}") &&
                                         Contains("\\fill[heedblue, opacity=0.55]"));
    CHECK_THAT(render_html(report), Contains(sentence) && Contains("class=\"bar\""));
    CHECK_THAT(
        render_variance_csv(report),
        Contains("source,metric,standard_deviation,standard_deviation_low,standard_deviation_high,share,share_low,"
                 "share_high,degrees_of_freedom\r\ninit,val_loss,0.1") &&
            Contains("\r\nwhole,val_loss,0."));
    const auto document = report_document(report);
    CHECK(document.at("variance").at("metrics").at(0).at("sentences").at(0).as_string() == sentence);
    CHECK(document.at("variance").at("runs").as_array().size() == 8);
    const std::vector<document::Figure> figures = report_figures(report);
    const document::Figure& bars = figure_named(figures, "variance");
    REQUIRE(bars.series.size() == 4);
    CHECK(bars.series[0].points[0].value == Approx(0.1));
    CHECK(bars.x.low == 0);
    CHECK_THAT(svg_figure(bars, false), Contains("class=\"bar\"") && Contains("initial weights"));
  }
  const ReportData plain = sweep_with("arm", {0.1, 0.2, 0.3});
  CHECK(report_document(plain).at("variance").is_null());
  CHECK(render_variance_csv(plain).empty());
  CHECK_FALSE(note(plain, "variance"));
}

TEST_CASE("a run of another arm can be one of the variation", "[report][vary]") {
  ReportData report = sweep_of(loss, {{"reference", {1.0, 2.0}}, {"init.seed = 10001", {1.2, 2.2}}});
  report.arms[0].runs[0].id = "base";
  report.arms[1].runs[0].id = "of another arm";
  Variation planned;
  planned.sources = {"init"};
  planned.values = 2;
  planned.fixings.push_back({"base", {{"of another arm"}}});
  report.variation.emplace().sources = planned.sources;
  compute_variance(report, planned);
  CHECK(report.variation->planned == 2);
  CHECK(report.variation->open == 0);
  CHECK(*report.variation->by_metric.front().found.sources[0].standard_deviation == Approx(0.2 / std::sqrt(2.0)));
}
