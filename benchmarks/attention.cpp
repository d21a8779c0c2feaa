#include "experiments/config/config.hpp"
#include "layers/attention/attention.hpp"
#include "autograd/shards.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/rounds.hpp"
#include "benchmarks/upstream.hpp"
#include "experiments/config/settings.hpp"
#include "layers/position/position.hpp"

#include <fmt/format.h>
#include <memory>

namespace heed::bench {

namespace {

using namespace HEED_REAL;

// One thread's part of the work: a layer with its parameters, and inputs with their gradients.
class Part {
public:
  Part(const AttentionCase& about, int batch, int heads, std::uint64_t seed)
      : rows_(about.rows), shape_{batch, heads, about.length, about.width} {
    Settings settings = Settings::parse("", "bench");
    settings.override_with({"attention.score=" + about.score, "attention.causal=true"});
    settings.override_with(about.overrides);
    const Config config = settings.resolve();
    AttentionOptions options = config.layers.front().attention;
    options.causal = about.causal;
    mask_ = self_attention_mask(options, {});
    const Scope scope(parameters_, Init::normal(0.02));
    attention_ = std::make_unique<Attention>(scope, config.layers.front(),
                                             ScoreShape{heads, about.width, about.width, about.length});
    const PositionInfo& position = position_info(config.layers.front().position.kind);
    if (position.make_relative)
      position_ = position.make_relative(scope / "position", {heads, about.width, about.width, about.length},
                                         config.layers.front().position_options);
    parameters_.initialise(seed);
    parameter_gradients_.resize(static_cast<std::size_t>(parameters_.extent()));
    for (std::size_t i = 0; i < 4; ++i) {
      const auto n = static_cast<std::size_t>(shape_.size());
      values_[i].resize(n);
      gradients_[i].resize(n);
      const RandomKey key{.seed = seed, .stream = Stream::test, .step = i};
      for (std::size_t j = 0; j < n; ++j) values_[i][j] = static_cast<float>(normal(key, j));
    }
  }

  void run() {
    tape_.rewind();
    Pass pass(tape_, parameters_, parameter_gradients_.data(), {.training = true});
    Tensor in[3];
    for (std::size_t i = 0; i < 3; ++i) in[i] = tape_.leaf(values_[i].data(), gradients_[i].data(), shape_);
    const Tensor y = (*attention_)(
        pass,
        {.queries = in[0], .values = in[2], .keys = in[1], .mask = mask_, .position = position_.get(), .rows = rows_});
    tape_.backward(HEED_REAL::bench::upstream(y, values_[3].data()));
  }

private:
  std::int64_t rows_;
  Shape shape_;
  Mask mask_;
  Parameters parameters_;
  std::unique_ptr<Attention> attention_;
  std::unique_ptr<RelativePosition> position_;
  std::vector<float> parameter_gradients_, values_[4], gradients_[4]; // q, k, v, and the result's gradient
  Tape tape_;
};

} // namespace

void measure_attention(const AttentionCase& about, int threads) {
  const bool by_batch = about.batch % threads == 0;
  if (!by_batch && about.heads % threads != 0)
    throw Refused(fmt::format("{} threads divide neither a batch of {} nor {} heads", threads, about.batch,
                              about.heads));
  std::vector<std::unique_ptr<Part>> parts;
  for (int i = 0; i < threads; ++i)
    parts.push_back(std::make_unique<Part>(about, by_batch ? about.batch / threads : about.batch,
                                           by_batch ? about.heads : about.heads / threads,
                                           static_cast<std::uint64_t>(i)));
  Workers workers(threads);
  serve_rounds({}, 2,
               [&] { workers.run(threads, [&](int job, int) { parts[static_cast<std::size_t>(job)]->run(); }); });
}

} // namespace heed::bench
