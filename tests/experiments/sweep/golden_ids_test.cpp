// Tests that the run IDs of earlier versions, for the configurations in tests/fixtures/identities, never change. If an
// ID changed, existing runs of users would no longer be found.
#include "experiments/config/config.hpp"
#include "experiments/config/numerics.hpp"
#include "experiments/runs/run_identity.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/tasks/task.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"
#include "tests/fixtures/fixture.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace heed;
namespace fs = std::filesystem;

namespace {

fs::path folder() { return fixtures_folder() / "identities"; }

// The file, the run's arm, its seed and its ID, for all runs that a file plans.
std::string ids_of(const fs::path& file) {
  Settings settings = Settings::load(file);
  if (const std::string path = settings.resolve().data.path; !path.empty())
    settings.override_with({fmt::format("data.path={}", (folder() / path).string())});
  const std::string name = file.stem().string();
  const Plan plan = make_plan(
      settings, [](const Config& c) { return make_task(c)->fingerprint(); }, name);
  std::string out;
  const auto add = [&](const std::string& what, const PlannedRun& run) {
    out += fmt::format("{}: {}: seed {}: {}\n", name, what, run.seed, run.id);
  };
  if (!plan.tuning) {
    for (const PlannedRun& run : plan.runs) add(plan.arms[run.arm].label, run);
    return out;
  }
  for (std::size_t a = 0; a < plan.arms.size(); ++a)
    for (const Trial& trial : plan.tuning->arms[a].trials) {
      std::string what = plan.arms[a].label;
      for (const PlannedChange& change : trial.point) what += fmt::format(", {} = {}", change.key, change.value);
      for (const std::size_t run : trial.runs) add(what, plan.tuning->runs[run]);
      for (const PlannedRun& run : trial.replicates) add(what + ", chosen", run);
    }
  return out;
}

} // namespace

TEST_CASE("no option that comes later changes the ID of a run", "[sweep][identity]") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  CHECK(files.size() >= 12);
  std::string found = fmt::format("numerics {}\n", numerics_version);
  for (const fs::path& file : files) found += ids_of(file);
  const fs::path golden = folder() / "ids.txt";
  INFO("An option that came later must be declared .neutral(its default) (docs/architecture.md, \"To add an option\"); "
       "what a file means must stay. Only where numerics_of goes up does this list belong into "
       << golden.string() << ":\n"
       << found);
  CHECK((found == content(golden)));
}

TEST_CASE("options that did nothing, and that earlier versions accepted, stay in the IDs of runs",
          "[sweep][identity]") {
  const std::string model = "[model]\nwidth = 8\nheads = 2\nlayers = 1\n", task = "[task]\nkind = \"copy\"\n";
  const auto id = [](const Settings& settings) {
    const Config config = settings.resolve();
    return run_id(config, make_task(config)->fingerprint());
  };
  // IDs of a version that included [init] position for rotary positions, and [model] init_std for ALiBi.
  const std::string rotary = model + task + "[position]\nkind = \"rotary\"\n[init]\nposition = ";
  const Settings saved = Settings::parse_saved(rotary + "\"torch\"\n", "run");
  CHECK(id(saved) == "5a3917fe921e599f");
  CHECK(id(Settings::parse_saved(to_toml(saved.resolve()), "run")) == "5a3917fe921e599f");
  CHECK(id(Settings::parse_saved(rotary + "\"init_std\"\n", "run")) == "ddac31d479846910");
  CHECK_THROWS_AS(Settings::parse(rotary + "\"torch\"\n", "run").resolve(), Refused);
  CHECK(id(Settings::parse(model + "tied_embeddings = false\n" + task +
                               "[position]\nkind = \"alibi\"\n[init]\nlinear = \"torch\"\nembedding = \"torch\"\n"
                               "head = \"torch\"\n",
                           "run")) == "1056a3c0bfc3468b");
}
