// Tests that the run IDs of the configurations in tests/fixtures/identities never change. If an ID changed, existing
// runs of users would no longer be found.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
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
  INFO("What a file means must stay (docs/architecture.md, \"To add an option\"). Only where numerics_version goes up, "
       "or "
       "the number of a variant (Variant::numerics) in one of the files, does this list belong into "
       << golden.string() << ":\n"
       << found);
  CHECK((found == content(golden)));
}

// IDs leave defaults out, so runs with another default would have the IDs of earlier runs.
TEST_CASE("a default changes only with the numerics", "[sweep][identity]") {
  std::string found = fmt::format("numerics {}\n", numerics_version);
  for (const std::string& key : all_keys())
    if (const Option& option = *find_option(key); option.changes_results)
      found += fmt::format("{} = {}\n", key, value_text(option.default_value));
  const fs::path golden = folder() / "defaults.txt";
  INFO("Where an option of this list has another default than before, numerics_version must go up. A new option is "
       "added "
       "to "
       << golden.string() << ":\n"
       << found);
  CHECK((found == content(golden)));
}
