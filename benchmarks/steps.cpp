#include "autograd/shards.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/step.hpp"

namespace heed::bench {

void measure_steps(const std::string& config_file, const std::vector<std::string>& overrides, int threads) {
  Settings settings = Settings::load(config_file);
  settings.override_with(overrides);
  const Config config = settings.resolve();
  const auto task = make_task(config);
  const Cost cost = engine(config).cost(config, *task);

  HEED_REAL::RunModel run(config, *task);
  run.parameters.initialise(static_cast<std::uint64_t>(config.general.seed));
  const auto optimizer = HEED_REAL::make_optimizer(config, run.parameters);
  ThreadPool workers(threads);
  HEED_REAL::StepRunner step(config, *task, run, *optimizer, workers);
  std::int64_t done = 0;
  serve_rounds({{"flops", cost.flops_per_step}, {"parameters", cost.parameters}, {"vocabulary", run.sizes.vocabulary}},
               5, [&] { step(done++); });
}

} // namespace heed::bench
