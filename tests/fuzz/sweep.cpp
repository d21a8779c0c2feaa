// Fuzz target: a configuration with a [sweep], expanded into a plan. The frozen plan must read back as the same plan.
#include "experiments/config/config.hpp"
#include "experiments/config/sweep_blocks.hpp"
#include "experiments/sweep/plan.hpp"
#include "tests/fuzz/target.hpp"

using namespace heed;
using fuzz::refusal;
using fuzz::require;

namespace {

/// Larger sweeps are skipped: 100,000 arms and a million seeds are allowed, but they take too long here.
constexpr std::size_t most_tried_arms = 24, most_tried_seeds = 3;

bool is_small(const SweepSpec& sweep) {
  std::size_t arms = 1;
  for (const SweepBlock& block : sweep.blocks) arms += expand(block).size();
  std::size_t conditions = 0;
  for (const SweepBlock& block : sweep.blocks) conditions += block.exclude.size() + block.require.size();
  const std::size_t trials = sweep.tune ? combinations(sweep.tune->axes, sweep.tune->origin).size() : 1;
  const std::size_t seeds = sweep.seeds.size() + (sweep.tune ? sweep.tune->seeds.size() : 0);
  return arms * trials <= most_tried_arms && seeds <= most_tried_seeds && conditions <= 8;
}

/// An invented cost that is affine in the width of the feed-forward network, as matching in parameters or FLOPs
/// requires, and whose state grows with the model's width.
Cost cost_of_config(const Config& config) {
  Cost cost;
  cost.parameters = 1000 * config.model.width * config.model.layers;
  for (const LayerChoice& layer : config.layers) cost.parameters += 100 * layer.block.ffn_width;
  cost.flops_per_step = static_cast<double>(cost.parameters) * 6;
  cost.state_size = config.model.width * config.model.width * config.model.layers / config.model.heads;
  return cost;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Plan plan;
  bool made = false;
  const auto read = [&] {
    const Settings settings = Settings::parse(fuzz::text(data, size), "input.toml");
    if (!is_small(settings.sweep())) return;
    plan = make_plan(
        settings, [](const Config&) { return "data"; }, "input", cost_of_config);
    made = true;
  };
  if (!refusal(read).empty() || !made) return 0;
  const std::string written = to_json(plan);
  const auto again = plan_from_json(written);
  require(again.value.has_value(), "what was written is refused: " + again.error + "\n" + written);
  require(to_json(*again) == written, "what was written reads as something else:\n" + written + to_json(*again));
  for (const PlannedRun& run : again->runs) {
    const std::string why = refusal([&] { config_of(run); });
    require(why.empty(), "a run's configuration is refused: " + why);
  }
  return 0;
}
