#include "autograd/shards.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/training/evaluation.hpp"

namespace heed::bench {

void measure_evaluation(const std::string& config_file, const std::vector<std::string>& overrides, int threads) {
  Settings settings = Settings::load(config_file);
  settings.override_with(overrides);
  const Config config = settings.resolve();
  const auto task = make_task(config);
  HEED_REAL::RunModel run(config, *task);
  run.parameters.initialise(static_cast<std::uint64_t>(config.general.seed));
  ThreadPool workers(threads);
  serve_rounds({{"rows", task->evaluation_sequences(run.format, Split::validation)}}, 1,
               [&] { HEED_REAL::evaluate_split(config, *task, run, Split::validation, 0, workers); });
}

} // namespace heed::bench
