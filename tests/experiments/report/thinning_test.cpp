// Tests that curves of very many points are thinned only for the HTML page, and that the page says so.
#include "experiments/report/thinning.hpp"

#include "experiments/report/curves.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <boost/json.hpp>
#include <numeric>

using namespace heed;
using Catch::Contains;
namespace json = boost::json;

namespace {

/// The awkward report with this number of evaluations in each run; the last run has fewer.
ReportData with_evaluations(std::size_t points) {
  ReportData report = awkward_report();
  for (ReportArm& arm : report.arms)
    for (ReportRun& run : arm.runs) {
      run.curve.clear();
      for (std::size_t i = 0; i < points; ++i)
        run.curve.push_back({static_cast<std::int64_t>(10 * (i + 1)), 1.0 / static_cast<double>(i + 1)});
    }
  report.arms.back().runs.back().curve.resize(points - 3);
  return report;
}

std::size_t points_of_runs(const json::value& document) {
  std::size_t n = 0;
  for (const json::value& arm : document.at("arms").as_array())
    for (const json::value& run : arm.at("runs").as_array()) n += run.at("curve").at("step").as_array().size();
  return n;
}

std::size_t points_of_bands(const json::value& document) {
  std::size_t n = 0;
  for (const json::value& arm : document.at("arms").as_array()) n += arm.at("curve").at("step").as_array().size();
  return n;
}

json::value in_page(const ReportData& report) {
  const std::string page = render_html(report), open = "id=\"report-data\">";
  const std::size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

json::value without_figures(json::object document) {
  document.erase("figures");
  return document;
}

} // namespace

TEST_CASE("every so many-th point of a curve is left, and its last", "[report][thinning]") {
  for (const std::size_t n : {0, 1, 2, 3, 7, 100, 101})
    for (const std::size_t every : {1, 2, 3, 7, 50, 1000}) {
      INFO(n << " points, every " << every);
      std::vector<std::size_t> points(n);
      std::iota(points.begin(), points.end(), std::size_t{0});
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < n; ++i)
        if (i % every == 0 || i + 1 == n) expected.push_back(i);
      CHECK(thinned(points, every) == expected);
    }
}

TEST_CASE("curves that a page can hold are whole there, and nothing is said of it", "[report][thinning]") {
  const ReportData report = with_evaluations(200);
  CHECK_FALSE(thinning_of(report).any());
  CHECK(in_page(report) == json::parse(script_safe_text(report, {})));
  CHECK(thinning_sentence({}).empty());
  CHECK(render_html(report).find("Curves are thinned, since") == std::string::npos);
}

TEST_CASE("curves of very many evaluations are thinned as little as does, on the page alone, which says so",
          "[report][thinning][many]") {
  const ReportData report = with_evaluations(50'000); // nine runs of three arms
  const Thinning thinning = thinning_of(report);
  CHECK(thinning.runs == 5);  // 450,000 points
  CHECK(thinning.bands == 6); // 150,000 points: every 5th and the last of each arm exceed 30,000
  const json::value page = in_page(report);
  CHECK(points_of_runs(page) <= most_run_points);
  CHECK(points_of_bands(page) <= most_band_points);
  CHECK(points_of_runs(report_document(report, {4, 5})) > most_run_points);
  CHECK(points_of_bands(report_document(report, {4, 5})) > most_band_points);
  CHECK_THAT(
      page.at("thinned").as_string().c_str(),
      Contains("every 5th evaluation of each run, and every 6th evaluation of the means and bands, and the last") &&
          Contains("report.json"));
  for (const json::value& arm : page.at("arms").as_array()) {
    CHECK(arm.at("curve").at("step").as_array().front() == 10);
    CHECK(arm.at("curve").at("step").as_array().back() == 500'000);
  }

  // Other formats have all points, and the statistics use all of them.
  const json::value whole = without_figures(report_document(report));
  CHECK(points_of_runs(whole) == 9 * 50'000 - 3);
  CHECK(points_of_bands(whole) == 3 * 50'000);
  CHECK_FALSE(whole.as_object().contains("thinned"));
  json::value rest = page;
  rest.as_object().erase("thinned");
  for (json::value& arm : rest.at("arms").as_array()) {
    arm.as_object().erase("curve");
    for (json::value& run : arm.at("runs").as_array()) run.as_object().erase("curve");
  }
  json::value numbers = json::parse(json::serialize(whole));
  for (json::value& arm : numbers.at("arms").as_array()) {
    arm.as_object().erase("curve");
    for (json::value& run : arm.at("runs").as_array()) run.as_object().erase("curve");
  }
  CHECK(rest == numbers);
  CHECK(render_csv(report) == render_csv(with_evaluations(200)));
}

TEST_CASE("a page says in words how its curves are thinned", "[report][thinning]") {
  const auto says = [](std::size_t runs, std::size_t bands, const std::string& what) {
    CHECK_THAT(thinning_sentence({runs, bands}), Contains("drawn are " + what + ", and the last."));
  };
  says(4, 1, "every 4th evaluation of each run");
  says(1, 3, "every 3rd evaluation of the means and bands");
  says(2, 2, "every second evaluation");
  says(22, 11, "every 22nd evaluation of each run, and every 11th evaluation of the means and bands");
  says(21, 1, "every 21st evaluation of each run");
  says(113, 1, "every 113th evaluation of each run");
}
