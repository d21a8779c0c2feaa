// Samples variants for their pictures: from the plain loops of their info records, and from small computations.
#include "autograd/attention.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/registry.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/schedules.hpp"
#include "layers/attention/normalizer.hpp"
#include "layers/attention/part.hpp"
#include "layers/attention/projection.hpp"
#include "layers/attention/score.hpp"
#include "layers/feed_forward.hpp"
#include "layers/mixers/recurrence.hpp"
#include "layers/norm.hpp"
#include "layers/position/position.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace heed {

namespace {

using f32::Init;
using f32::Parameters;
using f32::Scope;

// The parameters of a small layer, with their initial values. Tables that start at 0 have random values instead, which
// show what is shared.
struct Start {
  Parameters parameters;

  Scope scope(double deviation = 1) { return {parameters, Init::normal(deviation)}; }
  std::vector<const float*> values() {
    parameters.initialise(1);
    std::vector<const float*> out;
    for (const Parameters::Entry& entry : parameters.entries()) {
      float* const values = parameters.values() + entry.offset;
      const auto n = static_cast<std::size_t>(entry.shape.size());
      if (n > 1 && entry.shape.rank > 1 && std::all_of(values, values + n, [](float x) { return x == 0; }))
        for (std::size_t i = 0; i < n; ++i)
          values[i] = static_cast<float>(normal({.seed = 1, .stream = Stream::test}, i));
      out.push_back(values);
    }
    return out;
  }
};

// ---- scores ---------------------------------------------------------------------------------------------------------

std::vector<Sketch> sketch_score(const std::string& name) {
  const f32::ScoreInfo& info = f32::score_info(name);
  constexpr std::int64_t keys = 16, side = 25;
  const f32::ScoreSizes sizes{.heads = 1, .query_width = 2, .key_width = 2, .longest = keys};
  Start start;
  const auto score = info.make(start.scope(), sizes, {});
  const std::vector<const float*> parameters = start.values();
  const OptionValues options;
  const std::vector<float> query = {1, 0.5F};
  const auto at = [&](float x, float y, std::int64_t position) {
    const std::vector<float> key = {x, y};
    return static_cast<double>(info.pair({query.data(), key.data(), sizes, 0, parameters, &options, position}));
  };
  if (at(1, 0, 0) == at(-1, 2, 0) && at(1, 0, 0) != at(1, 0, 1))
    return {{.title = "s(q, k) of q = (1, 0.5) and any k",
             .x = "position of the key",
             .y = "score",
             .curves = {{"", sampled(0, keys - 1, keys - 1,
                                     [&](double x) { return at(0, 0, static_cast<std::int64_t>(std::lround(x))); })}}}};
  Sketch out{.title = "s(q, k) of q = (1, 0.5)", .x = "first feature of k", .y = "second feature of k"};
  out.heatmap = {side, side, {}};
  out.x_range = {-2.4, 2.4};
  out.y_range = {2.4, -2.4};
  for (std::int64_t row = 0; row < side; ++row)
    for (std::int64_t column = 0; column < side; ++column)
      out.heatmap.values.push_back(at(static_cast<float>(0.2 * static_cast<double>(column - 12)),
                                      static_cast<float>(0.2 * static_cast<double>(12 - row)), 0));
  return {std::move(out)};
}

// ---- normalisers ----------------------------------------------------------------------------------------------------

std::vector<Sketch> sketch_normalizer(const std::string& name) {
  const f32::NormalizerInfo& info = f32::normalizer_info(name);
  const auto weights = [&](const std::vector<float>& scores) {
    const std::int64_t n = std::ssize(scores);
    std::vector<float> out(scores.size());
    info.row(scores.data(), out.data(), {.n = n, .earlier = n - 1, .own = true}, {});
    return out;
  };
  const std::vector<float> scores = {-2, -1, -0.5F, 0, 0.5F, 1, 1.5F, 3};
  const std::vector<float> of_scores = weights(scores);
  Sketch bars{.title = "weights of eight keys", .x = "score of the key", .y = "weight"};
  for (std::size_t j = 0; j < scores.size(); ++j)
    bars.bars.emplace_back(fmt::format("{}", scores[j]), static_cast<double>(of_scores[j]));
  Sketch curve{.title = "weight of one of five keys", .x = "its score; the others have -1, 0, 1 and 2", .y = "weight"};
  curve.curves.push_back({"", sampled(-5, 7, 240, [&](double s) {
                            return static_cast<double>(weights({-1, 0, static_cast<float>(s), 1, 2})[2]);
                          })});
  return {std::move(bars), std::move(curve)};
}

// ---- positions ------------------------------------------------------------------------------------------------------

Sketch sketch_vectors(const f32::PositionInfo& info) {
  constexpr std::int64_t length = 48, width = 32;
  Start start;
  const auto position = info.make(start.scope(), width, length, {});
  start.values();
  f32::Tape tape;
  f32::Pass pass(tape, start.parameters, nullptr, {});
  const f32::Tensor vectors = f32::contiguous(position->vectors(pass, 0, length));
  Sketch out{.title = "vectors of 48 positions, width 32", .x = "feature", .y = "position"};
  out.heatmap = {length, width, {vectors.data, vectors.data + vectors.size()}};
  out.x_range = {0, width - 1};
  out.y_range = {0, length - 1};
  return out;
}

Sketch sketch_bias(const f32::PositionInfo& info) {
  constexpr std::int64_t length = 32;
  const f32::RelativeSizes sizes{.heads = 4, .query_width = 8, .value_width = 8, .longest = length};
  Start start;
  const auto scheme = info.make_relative(start.scope(), sizes, {});
  const std::vector<const float*> parameters = start.values();
  const OptionValues options;
  const std::vector<float> query(8, 1);
  Sketch out{.title = "added to the scores of head 0 of 4", .x = "position of the key", .y = "position of the query"};
  out.heatmap = {length, length, {}};
  out.x_range = out.y_range = {0, length - 1};
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t j = 0; j < length; ++j)
      out.heatmap.values.push_back(
          j > i ? -std::numeric_limits<double>::infinity()
                : static_cast<double>(info.pair({query.data(), j - i, sizes, 0, parameters, &options}).score));
  return out;
}

Sketch sketch_rotation(const f32::PositionInfo& info) {
  constexpr std::int64_t width = 32;
  const OptionValues options;
  const std::vector<float> ones(width, 1);
  const auto rotated = [&](std::int64_t position, f32::Rotated of) {
    std::vector<float> out(ones.size());
    info.rotate({ones.data(), width, position, of, 128, &options}, out.data());
    return out;
  };
  const std::vector<float> query = rotated(128, f32::Rotated::queries);
  Sketch out{.title = "q · k, before rotation q = k = (1, 1, ...)", .x = "distance", .y = "q · k / 32"};
  out.curves.push_back({"", sampled(0, 128, 128, [&](double distance) {
                          const std::vector<float> key = rotated(128 - std::lround(distance), f32::Rotated::keys);
                          double sum = 0;
                          for (std::size_t d = 0; d < key.size(); ++d)
                            sum += static_cast<double>(query[d]) * static_cast<double>(key[d]);
                          return sum / width;
                        })});
  return out;
}

Sketch sketch_product(const f32::PositionInfo& info) {
  constexpr std::int64_t length = 32, width = 8, model_width = 16;
  Start start;
  const LayerChoice choice;
  f32::PartSequence sequence{.sizes = {.width = model_width, .query_width = width, .value_width = width},
                             .choice = &choice,
                             .parameters = {},
                             .x = {},
                             .q = {},
                             .k = {},
                             .v = {},
                             .first_values = {}};
  const auto scheme = info.make_part(start.scope(0.25), sequence.sizes, {});
  sequence.parameters = start.values();
  std::uint64_t drawn = 0;
  for (std::int64_t t = 0; t < length; ++t) {
    for (float& x : sequence.x.emplace_back(model_width))
      x = static_cast<float>(normal({.seed = 2, .stream = Stream::test}, drawn++));
    sequence.q.emplace_back(width, 1.0F);
    sequence.k.emplace_back(width, 1.0F);
  }
  Sketch out{.title = "in place of q · k / 8, with q = k = (1, 1, ...) and random tokens",
             .x = "position of the key",
             .y = "position of the query"};
  out.heatmap = {length, length, {}};
  out.x_range = out.y_range = {0, length - 1};
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t j = 0; j < length; ++j)
      out.heatmap.values.push_back(j > i ? -std::numeric_limits<double>::infinity()
                                         : info.product(sequence, 0, i, j) / width);
  return out;
}

std::vector<Sketch> sketch_position(const std::string& name) {
  const f32::PositionInfo& info = f32::position_info(name);
  if (info.has_vectors) return {sketch_vectors(info)};
  if (info.rotate) return {sketch_rotation(info)};
  if (info.pair) return {sketch_bias(info)};
  if (info.product) return {sketch_product(info)};
  return {};
}

// ---- projections ----------------------------------------------------------------------------------------------------

// What decoding stores for each token, beside what it stores with the first projection.
std::vector<Sketch> sketch_projection(const std::string& name) {
  Sketch out{.title = "stored for each token: width 64, 4 heads", .x = "projection", .y = "numbers"};
  const f32::ProjectionInfo* const first = f32::projections().front();
  for (const f32::ProjectionInfo* info : {first, &f32::projection_info(name)}) {
    if (info == first && !out.bars.empty()) break;
    Start start;
    const auto projection = info->make(start.scope(),
                                       {.width = 64,
                                        .heads = 4,
                                        .query_heads = 4,
                                        .key_heads = 4,
                                        .value_heads = 4,
                                        .query_width = 16,
                                        .value_width = 16},
                                       {});
    start.values();
    f32::Tape tape;
    f32::Pass pass(tape, start.parameters, nullptr, {});
    const f32::Projected made = projection->of_self(pass, tape.zeros({1, 1, 64}), 0);
    const f32::StoredVectors& stored = made.stored;
    const std::int64_t numbers = projection->stores_vectors()
                                     ? stored.vectors.size() + (stored.rotated.tape ? stored.rotated.size() : 0)
                                     : made.k.size() + made.v.size();
    out.bars.emplace_back(info->about.name, static_cast<double>(numbers));
  }
  return {std::move(out)};
}

// ---- sequence mixers ------------------------------------------------------------------------------------------------

// The weights of all pairs of 32 random tokens, in the first two heads of a mixer.
std::vector<Sketch> sketch_mixer(const std::string& name) {
  if (name == "attention") return {};
  constexpr std::int64_t tokens = 32, width = 32, heads = 4;
  const LayerChoice choice =
      Settings::parse(fmt::format("[mixer]\nkind = \"{}\"\n", name), "sketch").resolve().layers.front();
  Start start;
  const auto made = f32::mixer_info(name).make(start.scope(1 / std::sqrt(static_cast<double>(width))), choice,
                                               {.width = width, .heads = heads, .longest = tokens}, Init::normal(1));
  const auto& mixer = dynamic_cast<const f32::MatrixStateMixer&>(*made);
  start.values();
  f32::Tape tape;
  f32::Pass pass(tape, start.parameters, nullptr, {});
  const f32::Tensor x = tape.make({1, tokens, width});
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data[i] = static_cast<float>(normal({.seed = 2, .stream = Stream::test}, static_cast<std::uint64_t>(i)));
  const f32::Tensor weights = f32::contiguous(mixer.weights(pass, x, {}));
  std::vector<Sketch> out;
  for (std::int64_t h = 0; h < 2; ++h) {
    Sketch panel{.title = fmt::format("weights, head {}", h), .x = "token that is read", .y = "token that reads"};
    panel.heatmap.rows = panel.heatmap.columns = tokens;
    for (std::int64_t i = 0; i < tokens * tokens; ++i)
      panel.heatmap.values.push_back(i % tokens > i / tokens
                                         ? -std::numeric_limits<double>::infinity()
                                         : static_cast<double>(weights.data[h * tokens * tokens + i]));
    panel.x_range = panel.y_range = {0, tokens - 1};
    out.push_back(std::move(panel));
  }
  return out;
}

std::vector<Sketch> sketch_feature(const std::string& name) {
  const f32::FeatureInfo& info = f32::feature_info(name);
  Start start;
  const auto feature = info.make(start.scope(), {.heads = 1, .width = 2});
  const std::vector<const float*> parameters = start.values();
  const std::vector<double> key = info.row({1, 0.5}, 0, parameters);
  Sketch out{.title = "f(q) · f(k) for k = (1, 0.5) and q = (x, 0.5)", .x = "x", .y = "f(q) · f(k)"};
  out.curves.push_back({"", sampled(-3, 3, 120, [&](double x) {
                          const std::vector<double> query = info.row({x, 0.5}, 0, parameters);
                          double sum = 0;
                          for (std::size_t i = 0; i < query.size(); ++i) sum += query[i] * key[i];
                          return sum;
                        })});
  return {std::move(out)};
}

std::vector<Sketch> sketch_decay(const std::string& name) {
  const f32::DecayInfo& info = f32::decay_info(name);
  constexpr std::int64_t heads = 4;
  const bool by_token = name != "none" && name != "constant";
  const f32::DecaySizes sizes{.model_width = 1, .heads = by_token ? 1 : heads, .width = 1};
  const float one = 1, zero = 0;
  Sketch out{.title = "what is left of a token in the state", .x = "tokens later", .y = "factor"};
  const auto add = [&](const std::string& label, double log_decay) {
    out.curves.push_back({label, sampled(0, 64, 64, [=](double n) { return std::exp(log_decay * n); })});
  };
  if (!by_token) {
    const f32::DecayRow row = info.row(&one, sizes, {}, {});
    if (name == "none") add("", row.log_decay[0]);
    else
      for (const std::size_t h : {0, 3}) add(fmt::format("head {}", h), row.log_decay[h]);
    return {std::move(out)};
  }
  for (const float x : {-2.0F, 2.0F})
    add(fmt::format("W x + b = {}", x), info.row(&x, sizes, {&one, &zero, &zero}, {}).log_decay[0]);
  return {std::move(out)};
}

// ---- norms, feed-forward networks -----------------------------------------------------------------------------------

std::vector<Sketch> sketch_norm(const std::string& name) {
  const f32::NormInfo& info = f32::norm_info(name);
  const f32::NormSizes sizes{4, true};
  Start start;
  const auto norm = info.make(start.scope(), sizes, {});
  const std::vector<const float*> parameters = start.values();
  Sketch out{.title = "a vector (x, 1, -0.5, 0.2)", .x = "x", .y = "normalised"};
  const std::vector<std::string> labels = {"first feature", "second feature"};
  for (std::size_t feature = 0; feature < labels.size(); ++feature)
    out.curves.push_back({labels[feature], sampled(-4, 4, 160, [&](double x) {
                            const std::vector<float> given = {static_cast<float>(x), 1, -0.5F, 0.2F};
                            std::vector<float> y(4);
                            info.row(given.data(), y.data(), sizes, parameters, {});
                            return static_cast<double>(y[feature]);
                          })});
  return {std::move(out)};
}

std::vector<Sketch> sketch_feed_forward(const std::string& name) {
  const f32::FeedForwardInfo& info = f32::feed_forward_info(name);
  Sketch out{.title = info.gated ? "a hidden feature, where W3 x + b3 is 1" : "a hidden feature",
             .x = "W1 x + b1",
             .y = "input of W2"};
  out.curves.push_back({"", sampled(-4, 4, 160, [&](double x) { return info.function(x); })});
  return {std::move(out)};
}

// ---- optimisers and schedules ---------------------------------------------------------------------------------------

std::vector<Sketch> sketch_optimizer(const std::string& name) {
  const f32::OptimizerInfo* info = find_variant(f32::optimizers(), name);
  if (!info) return {};
  Sketch out{.title = "60 steps on (x² + 20 y²) / 2 from (-4, 1)", .x = "x", .y = "y"};
  for (const double rate : {0.02, 0.08}) {
    Parameters parameters;
    const f32::ParameterId id = parameters.add("x", {1, 2}, Init::zeros(), f32::WeightDecay::yes, "x", true);
    const auto optimizer = info->make({}, parameters);
    float* at = parameters.values(id);
    at[0] = -4;
    at[1] = 1;
    std::vector<std::pair<double, double>> path{{-4, 1}};
    std::vector<float> gradients(static_cast<std::size_t>(parameters.extent()));
    for (std::int64_t step = 1; step <= 60; ++step) {
      gradients[0] = at[0];
      gradients[1] = 20 * at[1];
      optimizer->update(parameters, gradients.data(), rate, 1, step);
      path.emplace_back(at[0], at[1]);
    }
    out.curves.push_back({fmt::format("learning rate {}", rate), std::move(path)});
  }
  return {std::move(out)};
}

std::vector<Sketch> sketch_schedule(const std::string& name) {
  const ScheduleInfo* info = find_variant(schedules(), name);
  if (!info) return {};
  constexpr std::int64_t steps = 200, warmup = 20;
  Sketch out{.title = "200 steps, of which 20 warm up", .x = "step", .y = "factor of train.learning_rate"};
  out.curves.push_back({"", sampled(0, steps - 1, steps - 1, [&](double x) {
                          const std::int64_t step = std::lround(x);
                          const double warm = std::min(1.0, static_cast<double>(step + 1) / warmup);
                          return warm * info->factor(step, steps, warmup, {});
                        })});
  return {std::move(out)};
}

} // namespace

std::vector<Sketch> sketches_of(const std::string& key, const std::string& name) {
  if (key == "attention.score") return sketch_score(name);
  if (key == "attention.normalizer") return sketch_normalizer(name);
  if (key == "position.kind") return sketch_position(name);
  if (key == "attention.projection") return sketch_projection(name);
  if (key == "mixer.kind") return sketch_mixer(name);
  if (key == "mixer.feature") return sketch_feature(name);
  if (key == "mixer.decay") return sketch_decay(name);
  if (key == "block.norm_kind") return sketch_norm(name);
  if (key == "block.activation") return sketch_feed_forward(name);
  if (key == "train.optimizer") return sketch_optimizer(name);
  if (key == "train.schedule") return sketch_schedule(name);
  for (const f32::AttentionPartInfo* part : f32::attention_parts())
    for (const f32::PartPicture& picture : part->pictures)
      if (key == "attention." + part->about.name && picture.word == name) return picture.panels();
  return {};
}

const std::vector<SketchedWord>& sketched_words() {
  static const std::vector<SketchedWord> all = [] {
    std::vector<SketchedWord> out;
    for (const f32::AttentionPartInfo* part : f32::attention_parts())
      for (const f32::PartPicture& picture : part->pictures)
        out.push_back({"attention." + part->about.name, picture.word, picture.summary});
    return out;
  }();
  return all;
}

} // namespace heed
