// Tests of the report's figures: what they show, and that all media show the same.
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/latex.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_picture.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <regex>
#include <string>

using namespace heed;
using document::Figure;
using document::Series;
using test::contains;

namespace {

const Figure& figure(const std::vector<Figure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  REQUIRE(found != figures.end());
  return *found;
}

long count_of(const std::string& text, const std::string& part) {
  long count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Whether every element of a text of XML is closed by its name, in the right order, and no text has a bare sign.
bool is_well_formed(const std::string& text) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-zA-Z]+)([^<>]*?)(/?)>");
  std::string between = std::regex_replace(text, tag, "");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), tag); it != std::sregex_iterator(); ++it) {
    if ((*it)[1].length() > 0) {
      if (open.empty() || open.back() != (*it)[2]) return false;
      open.pop_back();
    } else if ((*it)[4].length() == 0) {
      open.push_back((*it)[2]);
    }
  }
  between = std::regex_replace(between, std::regex("&(amp|lt|gt|quot);"), "");
  return open.empty() && between.find_first_of("<>&") == std::string::npos;
}

} // namespace

TEST_CASE("the figure of differences has the numbers of the comparisons, with 0 and the margin", "[report][figures]") {
  const ReportData report = awkward_report();
  const std::vector<Figure> figures = report_figures(report);
  const Figure& shown = figure(figures, "differences");
  REQUIRE(shown.series.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const statistics::Comparison& c = *report.arms[i + 1].comparison;
    CHECK(shown.series[i].name == report.arms[i + 1].label);
    REQUIRE(shown.series[i].points.size() == 1);
    CHECK(shown.series[i].points[0].value == c.difference.mean);
    CHECK(shown.series[i].has_range == c.interval.has_value());
    CHECK(shown.x.low < std::min(0.0, c.difference.mean));
    CHECK(shown.x.high > std::max(0.0, c.difference.mean));
  }
  CHECK(shown.margin == 0.05);
  CHECK(shown.x.low < -0.05);
  CHECK(shown.x.label == "difference in val_loss (nats)");
}

TEST_CASE("lines are means over the runs, between the lowest and the highest", "[report][figures]") {
  const ReportData report = awkward_report();
  const std::vector<Figure> figures = report_figures(report);
  const Figure& curves = figure(figures, "val-loss-by-step");
  REQUIRE(curves.series.size() == 3);
  const Series& reference = curves.series[0];
  CHECK(reference.look == 0);
  CHECK(curves.series[1].look == 1);
  CHECK(curves.series[2].look == 2);
  REQUIRE(reference.points.size() == 2);
  CHECK(reference.points[1].at == 200);
  CHECK(reference.points[1].value == Approx((1.0 + 1.1 + 1.2) / 3));
  CHECK(reference.points[1].low == 1.0);
  CHECK(reference.points[1].high == 1.2);
  CHECK(reference.points[1].runs == 3);
  CHECK(curves.x.low == 100);
  CHECK(curves.x.high == 200);
  CHECK(curves.y.high == Approx(2.49)); // the highest of all first points
}

TEST_CASE("an arm that would leave the others no room is outside, and named in every medium", "[report][figures]") {
  ReportData report = awkward_report();
  report.arms[1].label = "far";
  for (ReportRun& run : report.arms[1].runs) {
    *run.value += 1e9;
    for (CurvePoint& point : run.curve) point.value += 1e9;
  }
  for (const char* name : {"near", "nearer"})
    report.arms.push_back(arm_of(name, {finished_run(0, 1.05), finished_run(1, 1.12), finished_run(2, 1.31)}));
  compute_statistics(report);
  for (const Figure& shown : report_figures(report)) {
    INFO(shown.name);
    const auto far = std::ranges::find(shown.series, "far", &Series::name);
    REQUIRE(far != shown.series.end());
    CHECK(far->outside);
    CHECK(std::ranges::count_if(shown.series, &Series::outside) == 1);
    CHECK(shown.is_cut);
    CHECK(std::max(shown.x.high, shown.y.high) < 1e6);
    const std::string svg = svg_figure(shown);
    CHECK(contains(svg, "far"));
    CHECK_FALSE(std::regex_search(svg, std::regex(" d=\"[^\"]*([0-9]{5}|e)"))); // no coordinate lies far out
  }
  CHECK(contains(render_latex(report), "Outside the axis: far (at last 1e+09)"));
}

TEST_CASE("all media have the same series", "[report][figures]") {
  const ReportData report = awkward_report();
  const std::vector<Figure> figures = report_figures(report);
  const boost::json::object json = report_document(report);
  const std::string latex = render_latex(report);
  REQUIRE(json.at("figures").as_array().size() == figures.size());
  for (std::size_t f = 0; f < figures.size(); ++f) {
    const Figure& shown = figures[f];
    INFO(shown.name);
    const boost::json::value& written = json.at("figures").at(f);
    CHECK(written.at("name").as_string() == shown.name);
    REQUIRE(written.at("series").as_array().size() == shown.series.size());
    const std::string svg = svg_figure(shown), dark = svg_figure(shown, true);
    for (std::size_t s = 0; s < shown.series.size(); ++s) {
      const Series& series = shown.series[s];
      const boost::json::value& of = written.at("series").at(s);
      CHECK(of.at("name").as_string() == series.name);
      REQUIRE(of.at("value").as_array().size() == series.points.size());
      for (std::size_t p = 0; p < series.points.size(); ++p)
        CHECK(of.at("value").at(p).to_number<double>() == series.points[p].value);
      CHECK(contains(svg, svg_text(series.name.substr(0, 20))));
      if (!shown.second) CHECK(contains(latex, latex_text(series.name)));
    }
    for (const std::string& picture : {svg, dark}) {
      CHECK(is_picture_of_heed(picture));
      CHECK(is_well_formed(picture));
      CHECK_FALSE(contains(picture, "nan"));
    }
    CHECK(count_of(svg, "<") == count_of(dark, "<"));
    CHECK(svg != dark);
  }
}

TEST_CASE("the page has a picture for each width, axis and reach, of named colours", "[report][figures]") {
  for (const bool far : {false, true}) {
    ReportData report = awkward_report();
    if (far) report.arms.push_back(arm_of("far", {finished_run(0, 1e9), finished_run(1, 2e9), finished_run(2, 3e9)}));
    compute_statistics(report);
    const std::vector<Figure> figures = report_figures(report);
    for (std::size_t f = 0; f < figures.size(); ++f) {
      const Figure& shown = figures[f];
      INFO(shown.name << (far ? ", far" : ""));
      CHECK(shown.is_cut == (far && shown.name != "train-loss-by-step"));
      const std::string pictures = page_pictures(shown, f);
      const bool lines = shown.kind == Figure::Kind::lines;
      CHECK(is_well_formed(pictures));
      CHECK(count_of(pictures, "<svg ") == 2 * (lines ? 2 : 1) * (shown.is_cut ? 2 : 1));
      for (const char* name : {"wide linear most", "narrow linear most"})
        CHECK(count_of(pictures, fmt::format("class=\"picture {}\" data-figure=\"{}\"", name, f)) == 1);
      CHECK(contains(pictures, "picture narrow log most") == lines);
      CHECK(contains(pictures, "picture wide linear all") == shown.is_cut);
      CHECK_FALSE(std::regex_search(pictures, std::regex("(fill|stroke)=\"#|nan|inf|-[0-9.]+(\\s*</text>)")));
      const long all = count_of(pictures, "<svg ");
      for (std::size_t s = 0; s < shown.series.size(); ++s)
        CHECK(count_of(pictures, fmt::format("data-series=\"{}\"", s)) ==
              (!lines                    ? all
               : shown.series[s].outside ? all + all / 2
                                         : 2 * all)); // no band where it is outside
      if (!lines) CHECK(count_of(pictures, "class=\"outside\"") == (shown.is_cut ? 2 : 0));
    }
  }
}

TEST_CASE("a line that reaches 0 has no logarithmic axis", "[report][figures]") {
  ReportData report = awkward_report();
  report.arms[1].runs[0].curve[0].value = 0;
  const std::vector<Figure> figures = report_figures(report);
  CHECK_FALSE(contains(page_pictures(figure(figures, "val-loss-by-step"), 1), "picture wide log"));
}

TEST_CASE("an interval that continues beyond the axis has a mark at its end", "[report][figures]") {
  std::vector<Figure> figures = report_figures(awkward_report());
  Figure& shown = figures.front();
  CHECK(count_of(svg_figure(shown), "class=\"continues\"") == 0);
  shown.series[0].has_range = true;
  shown.series[0].points[0].high = 1e6;
  CHECK(count_of(svg_figure(shown), "class=\"continues\"") == 1);
  CHECK(count_of(svg_figure(uncut(shown)), "class=\"continues\"") == 0);
}

TEST_CASE("names that do not fit are whole, in several lines", "[report][figures]") {
  std::vector<Figure> figures = report_figures(awkward_report());
  Series& series = figures.front().series[0];
  series.name = "a long name of an arm that changes its rate of learning = 0.5 and nothing else";
  for (const std::string& picture : {svg_figure(figures.front()), page_pictures(figures.front(), 0)}) {
    CHECK_FALSE(contains(picture, "\u2026"));
    std::string names;
    const std::regex line("class=\"name\">([^<]*)");
    for (auto it = std::sregex_iterator(picture.begin(), picture.end(), line); it != std::sregex_iterator(); ++it)
      names += (*it)[1].str() + " ";
    CHECK(contains(names, series.name + " "));
  }
}

TEST_CASE("a single arm has both losses in one figure", "[report][figures]") {
  ReportData report = awkward_report();
  report.arms.resize(1);
  report.arms[0].runs.resize(1);
  report.arms[0].runs[0].training = report.arms[0].runs[0].curve;
  compute_statistics(report);
  const std::vector<Figure> figures = report_figures(report);
  const Figure& losses = figure(figures, "losses-by-step");
  REQUIRE(losses.series.size() == 2);
  CHECK(losses.series[0].name == "val_loss");
  CHECK(losses.series[1].name == "train_loss");
  CHECK(losses.series[0].look != losses.series[1].look);
  CHECK(figure(figures, "train-loss-by-step").series.size() == 1);
}

TEST_CASE("ticks of a logarithmic axis are round numbers within it", "[report][figures]") {
  CHECK(logarithmic_ticks(0.09, 12).labels == std::vector<std::string>{"0.1", "0.2", "0.5", "1", "2", "5", "10"});
  CHECK(logarithmic_ticks(2, 2.3).places == ticks_between(2, 2.3).places);
  for (const auto& [low, high] : {std::pair(1e-12, 1e3), {0.5, 70.0}, {1e-300, 1e300}, {3.0, 9.5}}) {
    const Ticks ticks = logarithmic_ticks(low, high, 6);
    CHECK(std::ssize(ticks.places) >= 2);
    CHECK(std::ssize(ticks.places) <= 7);
    CHECK(ticks.places.front() >= low);
    CHECK(ticks.places.back() <= high);
  }
}

TEST_CASE("ticks are round numbers within the axis, as many as asked for", "[report][figures]") {
  for (const auto& [low, high] : {std::pair(0.0, 1.0), {-0.3, 0.07}, {100.0, 20000.0}, {-1e-7, 3e-7}, {0.999, 1.001}})
    for (const int most : {3, 5, 8}) {
      INFO(low << " to " << high << ", " << most);
      const Ticks ticks = ticks_between(low, high, most);
      REQUIRE(ticks.places.size() == ticks.labels.size());
      CHECK(std::ssize(ticks.places) >= 1);
      CHECK(std::ssize(ticks.places) <= most + 1);
      CHECK(std::ranges::is_sorted(ticks.places));
      CHECK(ticks.places.front() >= low - 1e-9 * (high - low));
      CHECK(ticks.places.back() <= high + 1e-9 * (high - low));
      std::vector<std::string> labels = ticks.labels;
      std::ranges::sort(labels);
      CHECK(std::ranges::adjacent_find(labels) == labels.end());
    }
}
