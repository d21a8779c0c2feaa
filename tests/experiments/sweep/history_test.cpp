#include "experiments/sweep/history.hpp"

#include "experiments/runs/run_folder.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

using namespace heed;
namespace fs = std::filesystem;

namespace {

Plan plan(const std::string& seeds, const std::string& scores, const std::string& report) {
  return make_plan(
      Settings::parse("name = \"scores\"\n[report]\n" + report + "\n[sweep]\nseeds = " + seeds +
                          "\n[[sweep.block]]\ngrid = { \"attention.score\" = " + scores + " }\n",
                      "test.toml"),
      [](const Config&) { return "data"; }, "test");
}

/// Writes the plan as frozen at this time.
fs::path frozen(Plan plan, const fs::path& out, const std::string& at) {
  plan.frozen = Frozen{at, 0, run_ids(plan).size()};
  const fs::path folder = out / "sweeps" / plan.folder_name();
  fs::create_directories(folder);
  put(folder / "plan.json", to_json(plan));
  return folder;
}

} // namespace

TEST_CASE("what a later plan asks otherwise is told in words", "[sweep][history]") {
  const Plan before = plan("[0, 1]", "[\"additive\"]", "");
  CHECK(plan_changes(before, before).empty());
  CHECK(plan_changes(before, plan("[0, 1, 2]", "[\"additive\"]", "")) == std::vector<std::string>{"seeds 2 -> 3"});
  Plan looked_at = before;
  looked_at.looks = {2};
  CHECK(plan_changes(before, looked_at) == std::vector<std::string>{"looks none -> 2"});
  CHECK(plan_changes(before, plan("[5, 6]", "[\"additive\"]", "")) == std::vector<std::string>{"other seeds"});
  CHECK(plan_changes(before, plan("[0, 1]", "[\"dot\", \"cosine\"]", "")) ==
        std::vector<std::string>{"2 arms added, 1 arm left out"});
  CHECK(plan_changes(before, plan("[0, 1]", "[\"additive\"]",
                                  "margin = 0.01\nmetric = \"val_accuracy\"\ntest = \"unpaired\"\nlearned = 0.9\n"
                                  "also = [\"val_loss\"]")) ==
        std::vector<std::string>{"report.metric val_loss -> val_accuracy", "report.also none -> val_loss",
                                 "report.margin none -> 0.01", "report.test paired -> unpaired",
                                 "report.learned found -> 0.9"});
  CHECK(plan_changes(plan("[0, 1]", "[\"additive\"]", "margin = 0.01\n"),
                     plan("[0, 1]", "[\"additive\"]", "margin = 0.01\nanswer = \"not worse\"\n")) ==
        std::vector<std::string>{"report.answer same -> not worse"});
}

TEST_CASE("earlier sweeps that share runs are found", "[sweep][history]") {
  const Scratch out;
  const Plan first = plan("[0, 1]", "[\"additive\"]", ""), second = plan("[0, 1, 2]", "[\"additive\"]", ""),
             other = plan("[7, 8]", "[\"additive\"]", ""), third = plan("[0, 1, 2]", "[\"additive\"]", "margin = 0.1");
  frozen(first, out.path, "2026-01-01T00:00:00Z");
  frozen(second, out.path, "2026-01-02T00:00:00Z");
  frozen(other, out.path, "2026-01-02T00:00:00Z");
  fs::create_directories(out.path / "sweeps" / "damaged-0123456789ab");
  put(out.path / "sweeps" / "damaged-0123456789ab" / "plan.json", "{");
  const Plan last = load_plan(frozen(third, out.path, "2026-01-03T00:00:00Z"));
  const std::vector<EarlierSweep> earlier = earlier_sweeps(last, out.path);
  REQUIRE(earlier.size() == 2);
  CHECK(earlier[0].name == first.folder_name());
  CHECK(earlier[0].shared == 4);
  CHECK(earlier[0].changes == std::vector<std::string>{"seeds 2 -> 3", "report.margin none -> 0.1"});
  CHECK(earlier[1].name == second.folder_name());
  CHECK(earlier[1].shared == 6);
  CHECK(earlier_sweeps(load_plan(out.path / "sweeps" / first.folder_name()), out.path).empty());
  CHECK(earlier_sweeps(third, out.path).empty()); // not frozen
}
