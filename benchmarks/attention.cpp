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
#include <optional>

namespace heed::bench {

namespace {

using namespace HEED_REAL;

// One thread's part of the work: a layer with its parameters, and inputs with their gradients.
class Part {
public:
  Part(const AttentionCase& about, int batch, int heads, std::uint64_t seed) : rows_(about.rows) {
    Settings settings = Settings::parse("", "bench");
    settings.override_with({"attention.score=" + about.score, "attention.causal=true"});
    settings.override_with(about.overrides);
    const Config config = settings.resolve();
    AttentionOptions options = config.layers.front().attention;
    options.causal = about.causal;
    mask_ = self_attention_mask(options, {});
    // Queries, keys, values, and the result's gradient; the maps of differential attention count as heads.
    const OptionValues& parts = config.layers.front().part_options;
    const std::string& maps = std::get<std::string>(parts.at("differential"));
    const std::int64_t queries = maps == "none" ? heads : 2 * heads, keys = maps == "v1" ? 2 * heads : heads,
                       width = maps == "v1" ? about.width / 2 : about.width;
    shapes_ = {Shape{batch, queries, about.length, width}, Shape{batch, keys, about.length, width},
               Shape{batch, heads, about.length, about.width}, Shape{batch, heads, about.length, about.width}};
    if (std::get<bool>(parts.at("forget_gate"))) shapes_.push_back({batch, queries, about.length, 1});
    if (maps != "none") lambda_ = maps == "v1" ? Shape{1, 1, 1, 1} : Shape{batch, heads, about.length, 1};
    const Scope scope(parameters_, Init::normal(0.02));
    attention_ = std::make_unique<Attention>(scope, config.layers.front(),
                                             ScoreSizes{queries, width, width, about.length});
    const PositionInfo& position = position_info(config.layers.front().position.kind);
    if (position.make_relative)
      position_ = position.make_relative(scope / "position", {queries, width, about.width, about.length},
                                         config.layers.front().position_options);
    parameters_.initialise(seed);
    parameter_gradients_.resize(static_cast<std::size_t>(parameters_.extent()));
    if (lambda_) shapes_.push_back(*lambda_);
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const auto n = static_cast<std::size_t>(shapes_[i].size());
      values_.emplace_back(n);
      gradients_.emplace_back(n);
      const RandomKey key{.seed = seed, .stream = Stream::test, .step = i};
      for (std::size_t j = 0; j < n; ++j) values_[i][j] = static_cast<float>(normal(key, j));
    }
  }

  void run() {
    tape_.rewind();
    Pass pass(tape_, parameters_, parameter_gradients_.data(), {.training = true});
    std::vector<Tensor> in;
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      in.push_back(tape_.leaf(values_[i].data(), gradients_[i].data(), shapes_[i]));
    AttentionInputs inputs{.queries = in[0],
                           .values = repeat_heads(in[2], in[1].shape[1]),
                           .keys = in[1],
                           .mask = mask_,
                           .position = position_.get(),
                           .rows = rows_};
    if (lambda_) inputs.lambda = in.back();
    if (in.size() > (lambda_ ? 5U : 4U)) inputs.forget = log_sigmoid(in[4]);
    const Tensor y = (*attention_)(pass, inputs);
    tape_.backward(HEED_REAL::bench::upstream(y, values_[3].data()));
  }

private:
  std::int64_t rows_;
  std::vector<Shape> shapes_;
  std::optional<Shape> lambda_;
  Mask mask_;
  Parameters parameters_;
  std::unique_ptr<Attention> attention_;
  std::unique_ptr<RelativePosition> position_;
  std::vector<float> parameter_gradients_;
  std::vector<std::vector<float>> values_, gradients_; // of each shape
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
  ThreadPool workers(threads);
  serve_rounds({}, 2,
               [&] { workers.run(threads, [&](int job, int) { parts[static_cast<std::size_t>(job)]->run(); }); });
}

} // namespace heed::bench
