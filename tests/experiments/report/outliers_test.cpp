// Tests of outliers, and of LaTeX figures in which an arm diverged.
#include "experiments/report/arm_notes.hpp"
#include "experiments/report/latex.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"
#include "tests/experiments/report/awkward_report.hpp"

#include <limits>
#include <string>

using namespace heed;
using test::contains;

TEST_CASE("only values out of all proportion are outliers, and at most a third of them", "[report][outliers]") {
  using Far = std::vector<bool>;
  CHECK(outlying({1, 2, 3, 1e6}) == Far{false, false, false, true});
  CHECK(outlying({1, 2, 3, -1e6}) == Far{false, false, false, true});
  // The median is 2.5 and the median distance 1, so 102 is 99.5 of them away, and 104 is 101.5.
  CHECK(outlying({1, 2, 3, 102}) == Far{false, false, false, false});
  CHECK(outlying({1, 2, 3, 104}) == Far{false, false, false, true});
  CHECK(outlying({1, 2, 1e6, 2e6}) == Far{false, false, false, false}); // two groups
  CHECK(outlying({1, 1e6}) == Far{false, false});
  CHECK(outlying({5, 5, 5, 5.5}) == Far{false, false, false, false}); // 2 % of the median is the least scale
  CHECK(outlying({5, 5, 5, 50}) == Far{false, false, false, true});
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(outlying({1, 2, infinite}) == Far{false, false, true});
  CHECK(outlying({}).empty());
}

TEST_CASE("a diverged arm leaves the axes of LaTeX figures to the others, and is named", "[report][outliers]") {
  ReportData report = awkward_report();
  const auto arm = [](const std::string& name, double more) {
    return arm_of(name, {finished_run(0, 1.0 + more), finished_run(1, 1.1 + more), finished_run(2, 1.2 + 1.1 * more)});
  };
  report.margin.reset();
  report.arms = {arm("reference", 0), arm("near", 0.3), arm("nearer", 0.2), arm("rate = 1000", 1.5e20)};
  compute_statistics(report);
  const std::string text = render_latex(report);
  CHECK(contains(text, "{$+1.55\\cdot10^{20}$ $\\triangleright$};"));
  CHECK(contains(text, "arms outside the axis"));
  CHECK(contains(text, "Outside the axis: rate = 1000 (at last 1.55e+20)"));
  // TeX has no number as large; the coordinates of the line end beyond the axis.
  for (std::size_t at = text.find("coordinates {"); at != text.npos; at = text.find("coordinates {", at + 1))
    CHECK_FALSE(contains(text.substr(at, text.find('}', at) - at), "e+20"));
  report.arms.pop_back();
  compute_statistics(report);
  CHECK_FALSE(contains(render_latex(report), "utside the axis"));
}

TEST_CASE("an arm whose runs all failed says so where its answer would be", "[report]") {
  ReportData report = awkward_report();
  for (ReportRun& run : report.arms[2].runs) {
    run.state = RunState::failed;
    run.value.reset();
  }
  compute_statistics(report);
  CHECK(contains(render_latex(report), "all runs failed"));
  CHECK(contains(render_markdown(report), "all runs failed"));
  CHECK(contains(render_latex(report), "runs finished, 3 failed.\\par"));
}
