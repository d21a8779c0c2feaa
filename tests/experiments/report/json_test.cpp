// Tests of the report as JSON, and of the HTML page that embeds the JSON.
#include "experiments/report/figures.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_picture.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/report/awkward_report.hpp"
#include "tests/experiments/report/leave_out_curves.hpp"

#include <boost/json.hpp>
#include <cmath>
#include <string>

using namespace heed;
namespace json = boost::json;

namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// A number as another reader parses it: Boost 1.81's parser may differ in the last bit.
double read_back(const json::value& number) { return std::stod(json::serialize(number)); }

/// The JSON that a page contains.
std::string embedded(const std::string& page) {
  const std::string open = "id=\"report-data\">";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

} // namespace

TEST_CASE("the document holds every arm and run, and numbers to their last digit", "[report]") {
  const ReportData report = awkward_report();
  const json::value document = report_document(report);
  const json::array& arms = document.at("arms").as_array();
  REQUIRE(arms.size() == 3);
  for (std::size_t a = 0; a < arms.size(); ++a) {
    const ReportArm& arm = report.arms[a];
    CHECK(arms[a].at("label").as_string() == arm.label);
    CHECK(read_back(arms[a].at("mean")) == *arm.mean);
    CHECK(arms[a].at("config").as_string() == arm.config);
    const json::array& runs = arms[a].at("runs").as_array();
    REQUIRE(runs.size() == arm.runs.size());
    for (std::size_t r = 0; r < runs.size(); ++r) {
      CHECK(runs[r].at("id").as_string() == arm.runs[r].id);
      CHECK(runs[r].at("problem").as_string() == arm.runs[r].problem);
      if (arm.runs[r].value) CHECK(read_back(runs[r].at("value")) == *arm.runs[r].value);
      else CHECK(runs[r].at("value").is_null());
    }
  }
  const json::value& comparison = arms[1].at("comparison");
  CHECK(read_back(comparison.at("difference")) == report.arms[1].comparison->difference.mean);
  CHECK(comparison.at("interval").is_null()); // three seeds
  CHECK(read_back(comparison.at("interval_student").at(0)) == report.arms[1].comparison->difference.interval->low);
  CHECK(read_back(comparison.at("p")) == report.arms[1].comparison->p.value());
  CHECK(arms[0].at("comparison").is_null());
  CHECK(document.at("tuning").is_null());
  CHECK(arms[0].at("answer").is_null());
  CHECK(document.at("margin").to_number<double>() == 0.05);
  CHECK(document.at("progress").at("failed").to_number<int>() == 1);
}

TEST_CASE("an arm that is equal in every seed says so", "[report]") {
  ReportData report = awkward_report();
  for (std::size_t i = 0; i < 3; ++i) report.arms[1].runs[i].value = report.arms[0].runs[i].value;
  compute_statistics(report);
  const json::value document = report_document(report);
  CHECK(document.at("arms").at(1).at("comparison").at("answer") == "equal");
  CHECK(document.at("arms").at(1).at("answer") == "equal");
  CHECK_THAT(std::string(document.at("arms").at(1).at("sentence").as_string()), Catch::Contains("is equal to"));
  CHECK(document.at("arms").at(2).at("comparison").at("answer") != "equal");
}

TEST_CASE("a curve is the mean over the runs evaluated there, between the lowest and the highest", "[report]") {
  ReportData report = awkward_report();
  report.arms[0].runs[0].curve.push_back({300, 0.5});
  const json::value document = report_document(report);
  const json::value& curve = document.at("arms").at(0).at("curve");
  CHECK(curve.at("step") == json::array{100, 200, 300});
  CHECK(json::value_to<std::vector<int>>(curve.at("runs")) == std::vector<int>{3, 3, 1});
  CHECK(curve.at("mean").at(1).to_number<double>() == Approx(1.1));
  CHECK(curve.at("low").at(1).to_number<double>() == 1.00);
  CHECK(curve.at("high").at(1).to_number<double>() == 1.20);
  CHECK(curve.at("standard_deviation").at(1).to_number<double>() == Approx(0.1));
  CHECK(curve.at("standard_deviation").at(2).is_null());
}

TEST_CASE("what is not finite is null, since JSON has no word for it", "[report]") {
  ReportData report = awkward_report();
  report.arms[1].comparison->effect_size = INFINITY;
  report.arms[1].comparison->p = NAN;
  const json::value document = json::parse(json::serialize(report_document(report)));
  CHECK(document.at("arms").at(1).at("comparison").at("effect_size").is_null());
  CHECK(document.at("arms").at(1).at("comparison").at("p").is_null());
}

TEST_CASE("a document in a page is the same document but for its curves, and can't end its element", "[report]") {
  json::value document = json::parse(json::serialize(report_document(awkward_report())));
  CHECK(json::parse(report_text(awkward_report())) == document);
  std::string text;
  add_script_safe_text(awkward_report(), report_figures(awkward_report()), 1, text);
  CHECK(text.find_first_of("<>&") == std::string::npos);
  test::leave_out_curves(document);
  CHECK(json::parse(text) == document);
}

TEST_CASE("the page embeds the document, its programs and its style, and asks nobody for more", "[report]") {
  const std::string page = render_html(awkward_report());
  json::value document = json::parse(json::serialize(report_document(awkward_report())));
  test::leave_out_curves(document);
  CHECK(json::parse(embedded(page)) == document);
  const std::vector<document::Figure> figures = report_figures(awkward_report());
  for (std::size_t i = 0; i < figures.size(); ++i) CHECK(occurrences(page, page_pictures(figures[i], i)) == 1);
  CHECK(page.find("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;") != std::string::npos);
  CHECK(occurrences(page, "</script>") == 3);
  CHECK(occurrences(page, "<script") == 3);
  CHECK(page.find("{{") == std::string::npos);
  for (const char* asking : {"<script src", "<link", "<img", "<iframe", "@import"})
    CHECK(occurrences(page, asking) == 0);
  CHECK(page.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("what a name has in braces is no place of the page", "[report]") {
  ReportData report = awkward_report();
  report.name = "{{script}}";
  CHECK(render_html(report).find("<title>{{script}} ") != std::string::npos);
}
