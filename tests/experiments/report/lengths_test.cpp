// Tests of metrics by length, from the run folders to every output format.
#include "experiments/report/curves.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/latex.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <algorithm>
#include <boost/json.hpp>

using namespace heed;
using Catch::Contains;
namespace json = boost::json;

namespace {

/// Two arms of two seeds. An arm's accuracy at a length is 1 - length / 1000, minus 0.1 for the second arm, and minus
/// 0.01 for seed 1. Its loss at a length is the length.
struct ThreeLengths : Scratch {
  Plan plan;

  explicit ThreeLengths(const std::string& metric = "val_accuracy_at.8", const std::vector<int>& lengths = {8, 16, 128})
      : plan(make_plan(
            Settings::parse("name = \"lengths\"\ntrain.evaluate_lengths = [8, 16, 128]\n"
                            "report.metric = \"" +
                                metric +
                                "\"\n[sweep]\nseeds = [0, 1]\n[[sweep.block]]\n"
                                "grid = { \"attention.score\" = [\"additive\"] }\n",
                            "test"),
            [](const Config&) { return "data of a test"; }, "test")) {
    for (const PlannedRun& run : plan.runs) {
      const auto values = [&](double shift) {
        std::vector<std::pair<std::string, double>> out{{"val_loss", 1 + shift}, {"val_accuracy", 0.5 + shift}};
        for (const int n : lengths) out.emplace_back(fmt::format("val_loss_at.{}", n), n);
        for (const int n : lengths)
          out.emplace_back(fmt::format("val_accuracy_at.{}", n), accuracy(n, run.arm, run.seed) + shift);
        for (const int n : {2, 3}) out.emplace_back(fmt::format("val_accuracy_by_length.{}", n), 0.1 * n);
        return out;
      };
      test::run_of(*this, run.config,
                   {{10, 1, 0, values(-0.1)}, {20, 2, 0, values(0)}, {20, 2, 0, {{"train_loss", 0.5}}}});
    }
  }
  static double accuracy(int length, std::size_t arm, std::int64_t seed) {
    return 1 - 0.001 * length - 0.1 * static_cast<double>(arm) - 0.01 * static_cast<double>(seed);
  }
  ReportData report() const {
    return collect_report(plan, path, path / "sweeps" / "test", [](const Config&) { return ArmFacts{{0, ""}}; });
  }
};

} // namespace

TEST_CASE("a report's metric can be that of one length", "[report][lengths]") {
  const ReportData report = ThreeLengths("val_accuracy_at.16").report();
  REQUIRE(report.arms[1].mean);
  CHECK(*report.arms[1].mean == Approx((ThreeLengths::accuracy(16, 1, 0) + ThreeLengths::accuracy(16, 1, 1)) / 2));
  REQUIRE(report.arms[0].runs[0].curve.size() == 2);
  CHECK(report.arms[0].runs[0].curve[0].value == Approx(ThreeLengths::accuracy(16, 0, 0) - 0.1));
}

TEST_CASE("what is measured at lengths is the last evaluation's, each metric by itself", "[report][lengths]") {
  const ReportData report = ThreeLengths().report();
  CHECK(length_metrics(report) == std::vector<std::string>{"val_accuracy_at", "val_accuracy_by_length", "val_loss_at"});
  CHECK(metric_at_lengths(report) == "val_accuracy_at");
  CHECK(metric_at_lengths(ThreeLengths("val_loss").report()) == "val_loss_at");
  // train_loss has no values by length
  CHECK(metric_at_lengths(ThreeLengths("train_loss").report()) == "val_loss_at");
  CHECK(metric_at_lengths(ThreeLengths("val_accuracy_at.8", {8}).report()).empty()); // a single length gives no line
  const std::vector<BandPoint> band = length_band(report.arms[1], "val_accuracy_at");
  REQUIRE(band.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const int length = std::vector{8, 16, 128}[i];
    CHECK(band[i].at == length); // sorted as numbers, not as text
    CHECK(band[i].runs == 2);
    CHECK(band[i].low == Approx(ThreeLengths::accuracy(length, 1, 1)));
    CHECK(band[i].high == Approx(ThreeLengths::accuracy(length, 1, 0)));
    CHECK(band[i].mean == Approx((band[i].low + band[i].high) / 2));
  }
}

TEST_CASE("curves over lengths stand in every format", "[report][lengths]") {
  const ReportData report = ThreeLengths().report();
  const json::value document = report_document(report);
  CHECK(document.at("metric_at_lengths").as_string() == "val_accuracy_at");
  const json::value& arm = document.at("arms").at(1);
  CHECK(arm.at("by_length").at("metric").as_string() == "val_accuracy_by_length");
  CHECK(arm.at("by_length").at("length") == json::array{2, 3});
  const json::array& curves = arm.at("at_lengths").as_array();
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].at("metric").as_string() == "val_accuracy_at");
  CHECK(curves[1].at("metric").as_string() == "val_loss_at");
  CHECK(curves[1].at("length") == json::array{8, 16, 128});
  CHECK(curves[1].at("mean").at(2).to_number<double>() == 128);

  const std::string latex = render_latex(report);
  CHECK_THAT(latex, Contains("val\\_accuracy of sequences of each length, in the last evaluation") &&
                        Contains("xmode=log, xtick={8,16,128}, xticklabels={8,16,128}") && Contains("(128,0.767"));
  CHECK_THAT(render_markdown(report),
             Contains("## At each length") && Contains("| 0.767 ± 0.007 |") && Contains("| 128"));
  CHECK_THAT(render_terminal(report, Style{}, 200), Contains("val_accuracy on sequences of each length") &&
                                                        Contains("0.767 ± 0.007") &&
                                                        Contains("val_accuracy by the sequences' own lengths") &&
                                                        !Contains("val_loss on sequences of each length"));
  // Two arms at three lengths of two metrics, and at two of their own.
  const std::string csv = render_lengths_csv(report);
  CHECK(std::ranges::count(csv, '\n') == 1 + 2 * (3 + 3 + 2));
  CHECK_THAT(csv, Contains("arm,group,metric,length,n,mean,standard_deviation,lowest,highest\r\n") &&
                      Contains("score = additive,,val_loss_at,128,2,128,0,128,128\r\n"));
}

TEST_CASE("without lengths nothing is said of them", "[report][lengths]") {
  const ReportData report = ThreeLengths("val_loss", {}).report();
  const json::value document = report_document(report);
  CHECK(document.at("metric_at_lengths").as_string().empty());
  CHECK(document.at("arms").at(0).at("at_lengths").as_array().empty());
  CHECK_THAT(render_markdown(report),
             !Contains("sequences of each length") && Contains("by the sequences' own lengths"));
}
