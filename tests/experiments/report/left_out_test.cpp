// Tests of runs whose folders are not reliable: the tests write a sweep's folders, then damage or edit some of them.
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/runs/finished_run.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <limits>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// A sweep of two arms and four seeds. The reference ends at 1.0, 1.1, 1.2, 1.3, and the other arm at 0.5 more.
struct FourSeeds : Scratch {
  Plan plan = make_plan(
      Settings::parse("name = \"four seeds\"\n"
                      "report.metric = \"val_loss\"\n"
                      "[sweep]\n"
                      "seeds = [0, 1, 2, 3]\n"
                      "[[sweep.block]]\n"
                      "grid = { \"attention.score\" = [\"additive\"] }\n",
                      "test"),
      [](const Config&) { return "data of a test"; }, "test");

  /// @param end  the final value of the other arm's seed 1, in place of 1.6
  explicit FourSeeds(double end = 1.6) {
    for (const PlannedRun& run : plan.runs) {
      double last = 1.0 + 0.1 * static_cast<double>(run.seed) + (run.arm == 0 ? 0.0 : 0.5);
      if (run.arm == 1 && run.seed == 1) last = end;
      const RunFolder written = test::run_of(*this, run.config, test::losses({3.0, last}));
      REQUIRE(written.id() == run.id);
    }
  }

  RunFolder folder(std::size_t arm, std::size_t seed) const {
    return {path / plan.runs.at(plan.arms.at(arm).runs.at(seed)).id};
  }
  ReportData report() const {
    return collect_report(plan, path, path / "sweeps" / "test", [](const Config&) { return ArmFacts{{0, ""}}; });
  }
};

void edit(const fs::path& file, const std::string& before, const std::string& after) {
  std::string text = content(file);
  REQUIRE(text.find(before) != std::string::npos);
  put(file, text.replace(text.find(before), before.size(), after));
}

void with_manifest(const RunFolder& run, const std::function<void(Manifest&)>& change) {
  Manifest manifest = *read_manifest(run);
  change(manifest);
  put(run.manifest(), to_json(manifest));
}

} // namespace

TEST_CASE("whole folders are all in the numbers", "[report][left_out]") {
  const FourSeeds sweep;
  const ReportData report = sweep.report();
  CHECK(report.left_out() == 0);
  CHECK(report.count(RunState::finished) == 8);
  CHECK(*report.arms[0].mean == Approx(1.15));
  CHECK(report.arms[1].comparison->difference.pairs == 4);
  CHECK(report.data == "data of a test");
  CHECK_THAT(render_terminal(report, Style{}), !Contains("left out"));
}

TEST_CASE("a run that ended with what is no number, or an absurd one, has failed", "[report][left_out]") {
  for (const double end : {1e304, -1e39, std::numeric_limits<double>::infinity()}) {
    const FourSeeds sweep(end);
    const ReportData report = sweep.report();
    const ReportRun& run = report.arms[1].runs[1];
    CHECK(run.state == RunState::failed);
    CHECK_FALSE(run.is_left_out());
    CHECK_FALSE(run.value);
    CHECK_THAT(run.problem, Contains("val_loss was") && Contains("no result"));
    CHECK(report.count(RunState::failed) == 1);
    CHECK(report.arms[1].comparison->seeds == std::vector<std::int64_t>{0, 2, 3});
    CHECK_THAT(render_terminal(report, Style{}), Contains("seed 1") && Contains("val_loss was"));
  }
}

TEST_CASE("a folder that can't be relied on is named with its reason, and no number has it in it",
          "[report][left_out]") {
  struct Harm {
    std::string what;
    std::function<void(const RunFolder&)> apply;
    std::string reason;
  };
  const std::vector<Harm> harms{
      {"an edited config", [](const RunFolder& r) { edit(r.config(), "\nsteps = ", "\nsteps = 1"); },
       "no longer hashes to its ID: it was edited"},
      {"a config of another seed", [](const RunFolder& r) { edit(r.config(), "seed = 1", "seed = 7"); },
       "no longer hashes to its ID"},
      {"a config that does not read", [](const RunFolder& r) { put(r.config(), "[train"); }, "config.toml is damaged"},
      {"no config", [](const RunFolder& r) { fs::remove(r.config()); }, "half-written"},
      {"no manifest", [](const RunFolder& r) { fs::remove(r.manifest()); }, "half-written"},
      {"half a manifest", [](const RunFolder& r) { put(r.manifest(), content(r.manifest()).substr(0, 40)); },
       "manifest.json' is damaged"},
      {"damaged metrics", [](const RunFolder& r) { put(r.metrics(), "{not json\n" + content(r.metrics())); },
       "metrics.jsonl' is damaged in line 1"},
      {"another run's manifest",
       [](const RunFolder& r) { with_manifest(r, [](Manifest& m) { m.run = "0123456789abcdef"; }); },
       "its manifest.json is that of run 0123456789abcdef"},
      {"another version", [](const RunFolder& r) { with_manifest(r, [](Manifest& m) { m.numerics = "12"; }); },
       "another version of Heed"}};
  for (const Harm& harm : harms) {
    INFO(harm.what);
    const FourSeeds sweep;
    harm.apply(sweep.folder(1, 1));
    const ReportData report = sweep.report();

    const ReportRun& run = report.arms[1].runs[1];
    CHECK(run.is_left_out());
    CHECK_FALSE(run.value);
    CHECK(run.curve.empty());
    CHECK_THAT(run.problem, Contains(harm.reason));
    CHECK(report.left_out() == 1);
    CHECK(report.count(RunState::finished) == 7);
    CHECK(report.arms[1].values == 3);
    CHECK(*report.arms[1].mean == Approx((1.5 + 1.7 + 1.8) / 3));
    CHECK(report.arms[1].comparison->seeds == std::vector<std::int64_t>{0, 2, 3});
    CHECK(report.arms[1].comparison->difference.mean == Approx(0.5));
    CHECK(report.machines.at(0).runs == 7);
    CHECK(report.arms[0].values == 4);

    const std::string named = "additive, seed 1 (run " + run.id + "): ";
    const std::string terminal = render_terminal(report, Style{});
    CHECK_THAT(terminal, Contains("7 of 8 runs finished, 1 left out") && Contains(named) && Contains(harm.reason));
    CHECK_THAT(render_markdown(report), Contains("additive, seed 1 (run `" + run.id + "`, left out): ") &&
                                            Contains(harm.reason) && Contains("7 of 8 runs finished, 1 left out"));
    CHECK_THAT(render_runs_csv(report), Contains(",1," + run.id + ",left out,,,"));

    const auto document = report_document(report);
    CHECK(document.at("progress").at("left_out").as_uint64() == 1);
    CHECK(document.at("progress").at("finished").as_uint64() == 7);
    const auto& written = document.at("arms").at(1).at("runs").at(1);
    CHECK(written.at("state").as_string() == "left out");
    CHECK(written.at("value").is_null());
    CHECK_THAT(std::string(written.at("problem").as_string()), Contains(harm.reason));
    // The HTML page shows only this document.
    CHECK_THAT(render_html(report), Contains("\"state\":\"left out\"") && Contains("7 of 8 runs finished, 1 left out"));
  }
}

TEST_CASE("threads and the names of machines make no other kind of machine", "[report]") {
  const FourSeeds sweep;
  with_manifest(sweep.folder(1, 1), [](Manifest& m) {
    m.threads += 1;
    m.host = "another";
  });
  CHECK(sweep.report().machines.size() == 1);
  with_manifest(sweep.folder(0, 1), [](Manifest& m) { m.cpu = "another"; });
  CHECK(sweep.report().machines.size() == 2);
}

TEST_CASE("a reference's run that is left out takes its seed from every comparison", "[report][left_out]") {
  const FourSeeds sweep;
  edit(sweep.folder(0, 3).config(), "seed = 3", "seed = 4");
  const ReportData report = sweep.report();
  CHECK(report.arms[0].values == 3);
  CHECK(report.arms[1].values == 4);
  CHECK(report.arms[1].comparison->seeds == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("what never ran is missing, and not left out", "[report][left_out]") {
  const FourSeeds sweep;
  fs::remove_all(sweep.folder(1, 0).path);
  const RunFolder planned = sweep.folder(1, 2);
  fs::remove(planned.manifest());
  fs::remove(planned.metrics());
  const ReportData report = sweep.report();
  CHECK(report.left_out() == 0);
  CHECK(report.count(RunState::missing) == 2);
  CHECK(report.arms[1].runs[0].problem.empty());
  CHECK(report.arms[1].runs[2].problem.empty());
}
