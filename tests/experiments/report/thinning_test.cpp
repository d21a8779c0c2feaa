// Tests that curves of very many points are thinned only for the HTML page, and that the page says so.
#include "experiments/report/curves.hpp"

#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/awkward_report.hpp"
#include "tests/experiments/report/leave_out_curves.hpp"

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

/// The numbers of points of the lines over steps of the report's metric.
std::size_t points_of_curves(const json::value& document) {
  std::size_t n = 0;
  for (const json::value& figure : document.at("figures").as_array())
    if (figure.at("name") == "val-loss-by-step")
      for (const json::value& series : figure.at("series").as_array()) n += series.at("at").as_array().size();
  return n;
}

json::value in_page(const ReportData& report) {
  const std::string page = render_html(report), open = "id=\"report-data\">";
  const std::size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
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
  CHECK(thinning_of(report) == 1);
  json::value whole = json::parse(json::serialize(report_document(report)));
  test::leave_out_curves(whole);
  CHECK(in_page(report) == whole);
  CHECK(thinning_sentence(1).empty());
  CHECK(render_html(report).find("Curves are thinned, since") == std::string::npos);
}

TEST_CASE("curves of very many evaluations are thinned as little as does, on the page alone, which says so",
          "[report][thinning][many]") {
  const ReportData report = with_evaluations(50'000); // nine runs of three arms
  const std::size_t every = thinning_of(report);
  CHECK(every == 11); // 150,000 points: every 10th and the last of each arm exceed 15,000
  json::value page = in_page(report);
  CHECK(points_of_curves(page) <= most_points);
  CHECK(points_of_curves(report_document(report, 10)) > most_points);
  CHECK_THAT(page.at("thinned").as_string().c_str(),
             Contains("every 11th evaluation, and the last") && Contains("report.json"));
  const json::value at = page.at("figures").at(1).at("series").at(0).at("at");
  CHECK(at.as_array().front().to_number<double>() == 10);
  CHECK(at.as_array().back().to_number<double>() == 500'000);

  // Other formats have all points, and the statistics use all of them.
  json::value whole = json::parse(json::serialize(report_document(report)));
  CHECK(points_of_curves(whole) == 3 * 50'000);
  CHECK_FALSE(whole.as_object().contains("thinned"));
  test::leave_out_curves(whole);
  for (json::value* document : {&page, &whole}) {
    document->as_object().erase("figures");
    document->as_object().erase("thinned");
  }
  CHECK(page == whole);
  CHECK(render_csv(report) == render_csv(with_evaluations(200)));
}

TEST_CASE("a page says in words how its curves are thinned", "[report][thinning]") {
  const auto says = [](std::size_t every, const std::string& what) {
    CHECK_THAT(thinning_sentence(every), Contains("drawn are every " + what + " evaluation, and the last."));
  };
  says(2, "second");
  says(3, "3rd");
  says(4, "4th");
  says(11, "11th");
  says(22, "22nd");
  says(21, "21st");
  says(113, "113th");
}
