#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/training/run_model.hpp"

#include <algorithm>

namespace heed::bench {

void measure_generation(const std::string& config_file, const std::vector<std::string>& overrides, int prompt,
                        int tokens) {
  using namespace HEED_REAL;
  Settings settings = Settings::load(config_file);
  settings.override_with(overrides);
  const Config config = settings.resolve();
  const auto task = make_task(config);
  RunModel run(config, *task);
  run.parameters.initialise(static_cast<std::uint64_t>(config.general.seed));
  Tape tape;
  tape.record(false);
  const Tape::FrozenWeights fixed(tape, run.parameters.values(), run.parameters.extent());
  Batch batch;
  batch.reset(1, 1, TaskFormat::language_model);
  const std::vector<std::int32_t> first(static_cast<std::size_t>(prompt), 1);
  const auto on_tape = [&](auto f) {
    tape.rewind();
    Pass pass(tape, run.parameters, nullptr, {});
    return f(pass);
  };
  serve_rounds({{"tokens", tokens}}, 1, [&] {
    const auto decoding = on_tape([&](Pass& pass) { return run.model->decoding(pass, batch); });
    on_tape([&](Pass& pass) { decoding->read(pass, 1, first); });
    std::int32_t next = 1;
    for (int i = 0; i < tokens; ++i)
      next = on_tape([&](Pass& pass) {
        const Tensor logits = decoding->step(pass, {&next, 1});
        return static_cast<std::int32_t>(std::max_element(logits.data, logits.data + logits.size()) - logits.data);
      });
  });
}

} // namespace heed::bench
