#include "autograd/shards.hpp"
#include "benchmarks/measurements.hpp"
#include "benchmarks/parts_of_batch.hpp"
#include "benchmarks/upstream.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "layers/attention/attention.hpp"

#include <memory>

namespace heed::bench {

namespace {

using namespace HEED_REAL;

// One thread's part of the batch: a mixer with its parameters, and inputs with their gradients.
class Part {
public:
  Part(const MixerCase& about, int batch, std::uint64_t seed) : shape_{batch, about.length, about.width} {
    Settings settings = Settings::parse("", "bench");
    settings.override_with({"mixer.kind=" + about.kind, "position.kind=none"});
    settings.override_with(about.overrides);
    const LayerChoice choice = settings.resolve().layers.front();
    mask_ = self_attention_mask(choice.attention, {});
    mixer_ = mixer_info(about.kind)
                 .make(Scope(parameters_, Init::normal(0.02)), choice,
                       {.width = about.width, .heads = about.heads, .longest = about.length}, Init::normal(0.02));
    parameters_.initialise(seed);
    parameter_gradients_.resize(static_cast<std::size_t>(parameters_.extent()));
    const auto n = static_cast<std::size_t>(shape_.size());
    gradients_.resize(n);
    for (std::vector<float>* values : {&inputs_, &upstream_})
      for (std::size_t i = 0; i < n; ++i)
        values->push_back(static_cast<float>(normal({.seed = seed, .stream = Stream::test}, i)));
  }

  void run() {
    tape_.rewind();
    Pass pass(tape_, parameters_, parameter_gradients_.data(), {.training = true});
    const Tensor y = (*mixer_)(pass, tape_.leaf(inputs_.data(), gradients_.data(), shape_), mask_);
    tape_.backward(HEED_REAL::bench::upstream(y, upstream_.data()));
  }

private:
  Shape shape_;
  Mask mask_;
  Parameters parameters_;
  std::unique_ptr<Mixer> mixer_;
  std::vector<float> parameter_gradients_, inputs_, gradients_, upstream_;
  Tape tape_;
};

} // namespace

void measure_mixer(const MixerCase& about, int threads) { measure_parts_of_batch<Part>(about, threads); }

} // namespace heed::bench
