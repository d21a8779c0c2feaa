// Fuzz target: the reader of FOLDER/tuned.json, the choices of the arms of a tuned sweep. In the inputs, @PLAN@ stands
// for the hash of the plan, because the hash depends on all existing options. A wrong checksum is corrected.
#include "experiments/config/config.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/tuning.hpp"
#include "tests/experiments/system/scratch.hpp"
#include "tests/fuzz/right_checksum.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

using namespace heed;
using fuzz::refusal;
using fuzz::require;

namespace {

Plan tuned_plan() {
  const Settings settings = Settings::parse("[[sweep.block]]\n"
                                            "arms.second = { model.heads = 2 }\n"
                                            "[sweep.tune]\n"
                                            "grid = { train.learning_rate = [0.001, 0.003] }\n"
                                            "seeds = [100]\n",
                                            "input.toml");
  return make_plan(
      settings, [](const Config&) { return "data"; }, "input");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch folder;
  static const Plan made = tuned_plan();
  constexpr std::string_view mark = "@PLAN@";
  auto bytes = std::string(fuzz::text(data, size));
  if (const std::size_t at = bytes.find(mark); at != std::string::npos) bytes.replace(at, mark.size(), made.hash);
  Plan plan;
  const auto why_not = [&] {
    plan = made;
    put(folder / "tuned.json", bytes);
    return refusal([&] { read_choices(plan, folder.path); });
  };
  std::string why = why_not();
  if (!why.empty() && fuzz::put_right(bytes, why)) why = why_not();
  if (!why.empty()) return 0;
  require(plan.tuning->settled(), "an arm has not chosen");
  for (const PlannedRun& run : plan.runs) require(!run.id.empty(), "a run that is not known");
  for (std::size_t a = 0; a < plan.arms.size(); ++a) tuning_in_words(*plan.tuning, a);
  return 0;
}
