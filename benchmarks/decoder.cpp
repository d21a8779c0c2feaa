#include "layers/recurrent/decoder.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"
#include "benchmarks/upstream.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"

#include <algorithm>

namespace heed::bench {

void measure_decoder(const DecoderCase& about) {
  using namespace HEED_REAL;
  Settings settings = Settings::parse("[model]\nkind = \"recurrent\"\n[task]\nkind = \"reverse\"\n", "bench");
  settings.override_with({"recurrent.cell=gru", "recurrent.attention=" + about.attention});
  settings.override_with(about.overrides);
  const Config config = settings.resolve();
  Parameters parameters;
  const std::int64_t width = about.width, batch = about.batch, length = about.length, source = about.source;
  const RecurrentDecoder decoder(Scope(parameters, Init::normal(0.02)), config.layers.front(), config.recurrent,
                                 config.recurrent_options,
                                 {.width = width, .memory_width = width, .longest = std::max(length, source)},
                                 config.recurrent_attention_options);
  parameters.initialise(1);
  std::vector<float> parameter_gradients(static_cast<std::size_t>(parameters.extent())), values[3], gradients[3];
  const Shape sequence{batch, length, width}, memory{batch, source, width};
  for (std::size_t i = 0; i < 3; ++i) { // token embeddings, source states, the result's gradient
    values[i].resize(static_cast<std::size_t>((i == 1 ? memory : sequence).size()));
    gradients[i].resize(values[i].size());
    for (std::size_t j = 0; j < values[i].size(); ++j)
      values[i][j] = static_cast<float>(normal({.seed = 1, .stream = Stream::test, .step = i}, j));
  }
  const std::vector<std::int32_t> lengths(static_cast<std::size_t>(batch), static_cast<std::int32_t>(source));
  const std::vector<float> zeros(static_cast<std::size_t>(batch * width));
  Tape tape;
  serve_rounds({}, 2, [&] {
    tape.rewind();
    Pass pass(tape, parameters, parameter_gradients.data(), {.training = true});
    const Tensor e = tape.leaf(values[0].data(), gradients[0].data(), sequence);
    const Tensor states = tape.leaf(values[1].data(), gradients[1].data(), memory);
    const RecurrentState start{tape.zeros({batch, width}), {}};
    const Tensor y = decoder(pass, e, {&start, 1}, decoder.read(pass, states, lengths.data()));
    tape.backward(HEED_REAL::bench::upstream(y, values[2].data()));
  });
}

} // namespace heed::bench
