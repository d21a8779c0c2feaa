// Tests of the metrics on heads and modules, against plain loops, closed forms and models that the test modifies.
#define HEED_REAL f64 // in double precision, so that compared values differ only by rounding
#include "experiments/config/config.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/introspection.hpp"
#include "tests/experiments/training/training_support.hpp"
#include "tests/layers/kept_weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace heed;
using namespace heed::f64;
using test::config;
using test::train;
using Catch::Contains;

namespace {

// A model with initial parameters, and the validation sequences.
struct Subject {
  Config config;
  std::unique_ptr<Task> task;
  RunModel run;

  explicit Subject(const Config& c) : config(c), task(make_task(c)), run(c, *task) {
    run.parameters.initialise(static_cast<std::uint64_t>(c.general.seed));
  }

  Inspection inspect(const InspectionParts& looks = all_parts, std::int64_t sequences = 0, int threads = 1) {
    ThreadPool workers(threads);
    return inspect_model(config, *task, run, Split::validation, sequences, looks, workers);
  }
  Batch sequence(std::int64_t r) const {
    Batch b;
    b.reset(1, run.sizes, run.format);
    task->evaluation_sequence(run.format, Split::validation, r, b, 0);
    return b;
  }
  std::int64_t sequences() const { return task->evaluation_sequences(run.format, Split::validation); }
  double loss() {
    ThreadPool workers(1);
    return evaluate_split(config, *task, run, Split::validation, 0, workers)[0].second;
  }
  double* values(const std::string& name) {
    const Parameters::Entry* e = run.parameters.find(name);
    if (!e) throw Failed("there is no parameter " + name);
    return run.parameters.values() + e->offset;
  }
  void set_zero(const std::string& name) { std::fill_n(values(name), run.parameters.find(name)->shape.size(), 0.0); }
  // Sets the output projection of a block to 0 for one head of width 4.
  void disconnect(const std::string& block, std::int64_t head) {
    double* w = values(block + ".attention.output.weight"); // [8, 2 heads of 4]
    for (std::int64_t out = 0; out < 8; ++out) std::fill_n(w + out * 8 + head * 4, 4, 0.0);
  }
};

Config decoder(std::vector<std::string> assignments = {}) {
  assignments.push_back("precision=float64");
  return config(test::tiny_decoder, assignments);
}
Config encoder(std::vector<std::string> assignments = {}) {
  assignments.push_back("precision=float64");
  return config(test::tiny_encoder, assignments);
}

const ModuleInspection& module(const Inspection& found, const std::string& name) {
  for (const ModuleInspection& m : found.modules)
    if (m.module == name) return m;
  throw Failed("there is no module " + name);
}

} // namespace

TEST_CASE("entropy and distance are those of the kept weights, padding left out", "[inspection]") {
  for (const Config& c : {decoder({"attention.normalizer=sigmoid"}), decoder({"attention.normalizer=sparsemax"}),
                          decoder(), encoder(), encoder({"attention.score=additive", "attention.window=1"})}) {
    Subject s(c);
    std::vector<double> entropy(4), distance(4), queries(4); // of two heads in each of two blocks
    std::set<std::int64_t> lengths;
    for (std::int64_t r = 0; r < s.sequences(); ++r) {
      const Batch b = s.sequence(r); // with its padding
      Tape tape;
      KeptWeights weights;
      Pass pass(tape, s.run.parameters, nullptr, {.observer = &weights});
      s.run.model->logits(pass, b);
      REQUIRE(weights.kept.size() == 2);
      lengths.insert(b.lengths[0]);
      for (std::size_t block = 0; block < 2; ++block)
        for (std::int64_t h = 0; h < 2; ++h)
          for (std::int64_t i = 0; i < b.lengths[0]; ++i) {
            const Tensor& w = weights.kept[block];
            const auto at = [&](std::int64_t j) { return w.data[h * w.stride[1] + i * w.stride[2] + j * w.stride[3]]; };
            double total = 0;
            for (std::int64_t j = 0; j < b.length; ++j) total += at(j);
            const std::size_t head = 2 * block + static_cast<std::size_t>(h);
            for (std::int64_t j = 0; j < b.length; ++j) {
              const double p = at(j) / total;
              if (p > 0) entropy[head] -= p * std::log(p);
              distance[head] += p * static_cast<double>(i > j ? i - j : j - i);
            }
            ++queries[head];
          }
    }
    REQUIRE(lengths.size() > 1);
    const Inspection found = s.inspect({.attention = true});
    CHECK(found.sequences == s.sequences());
    REQUIRE(found.heads.size() == 4);
    for (std::size_t h = 0; h < 4; ++h) {
      CHECK(found.heads[h].attention == (h < 2 ? "blocks.0.attention" : "blocks.1.attention"));
      CHECK(found.heads[h].head == static_cast<std::int64_t>(h % 2));
      CHECK(found.heads[h].entropy == Approx(entropy[h] / queries[h]).epsilon(1e-9));
      CHECK(found.heads[h].distance.value() == Approx(distance[h] / queries[h]).epsilon(1e-9));
      CHECK_FALSE(found.heads[h].importance);
    }
    CHECK(found.modules.empty());
  }
}

TEST_CASE("uniform attention to n tokens has the entropy ln n and the distance (n^2 - 1) / 3n", "[inspection]") {
  Subject s(encoder({"task.parity.min_length=8"}));
  for (const std::string block : {"blocks.0", "blocks.1"}) s.set_zero(block + ".attention.qkv.weight");
  for (const HeadInspection& h : s.inspect().heads) {
    CHECK(h.entropy == Approx(std::log(8)));
    CHECK(h.distance.value() == Approx(63.0 / 24));
  }
}

TEST_CASE("attention to one key alone has no entropy", "[inspection]") {
  Subject s(decoder({"attention.normalizer=hard"}));
  for (const HeadInspection& h : s.inspect({.attention = true}).heads) {
    CHECK(h.entropy == 0);
    CHECK(h.distance.value() > 0);
  }
}

TEST_CASE("a head that nobody listens to is worth nothing, to the last bit", "[inspection]") {
  for (const Config& c : {decoder(), encoder()}) {
    Subject s(c);
    s.disconnect("blocks.1", 0);
    const std::vector<HeadInspection> heads = s.inspect({.importance = true}).heads;
    REQUIRE(heads.size() == 4);
    for (std::size_t h = 0; h < 4; ++h) {
      if (h == 2) CHECK(heads[h].importance.value() == 0);
      else CHECK(heads[h].importance.value() != 0);
    }
  }
}

TEST_CASE("a head's importance is the rise of the loss where its output is not listened to", "[inspection]") {
  // With and without streamed scores, and with a relative position bias in the sums.
  for (const Config& c : {decoder(), decoder({"attention.normalizer=sparsemax"}), decoder({"position.kind=shaw"})}) {
    const std::vector<HeadInspection> heads = Subject(c).inspect({.importance = true}).heads;
    const double whole = Subject(c).loss();
    for (const HeadInspection& h : heads) {
      Subject without(c);
      without.disconnect(h.attention.substr(0, 8), h.head);
      CHECK(h.importance.value() == Approx(without.loss() - whole).epsilon(1e-6).margin(1e-12));
    }
  }
}

TEST_CASE("activations are the root mean square of what modules give, padding left out", "[inspection]") {
  Subject s(encoder());
  double squares = 0, numbers = 0;
  for (std::int64_t r = 0; r < s.sequences(); ++r) {
    const Batch b = s.sequence(r);
    for (std::int64_t i = 0; i < b.lengths[0]; ++i)
      for (std::int64_t d = 0; d < 8; ++d, ++numbers)
        squares += std::pow(s.values("embedding.weight")[b.tokens[static_cast<std::size_t>(i)] * 8 + d], 2);
  }
  const Inspection found = s.inspect({.activations = true});
  CHECK(module(found, "embedding").activation.value() == Approx(std::sqrt(squares / numbers)));
  // A norm's gain starts at 1 and its bias at 0; its epsilon is small compared with the variance.
  CHECK(module(found, "final_norm").activation.value() == Approx(1).epsilon(0.01));
  std::set<std::string> names;
  for (const ModuleInspection& m : found.modules) {
    names.insert(m.module);
    CHECK(m.activation.has_value());
    CHECK_FALSE(m.gradient.has_value());
  }
  for (const std::string name : {"attention.qkv", "attention.output", "ffn.expand", "ffn.project", "attention_norm"})
    CHECK(names.contains("blocks.0." + name));
  CHECK(names.contains("blocks.0"));
  CHECK(names.contains("output"));
  CHECK(found.heads.empty());
}

TEST_CASE("a block that leaves its input alone gives what it was given", "[inspection]") {
  Subject s(encoder({"position.kind=none"}));
  for (const char* part : {"attention.output", "ffn.project"})
    for (const char* what : {"weight", "bias"}) s.set_zero(fmt::format("blocks.0.{}.{}", part, what));
  const Inspection found = s.inspect({.activations = true});
  CHECK(module(found, "blocks.0").activation == module(found, "embedding").activation);
  CHECK(module(found, "blocks.0.ffn.project").activation == 0.0);
}

TEST_CASE("the first key's share is that of the kept weights, of queries but the first", "[inspection]") {
  for (const Config& c : {decoder({"attention.normalizer=sigmoid"}), encoder({"attention.window=1"})}) {
    Subject s(c);
    std::vector<double> share(4), queries(4);
    for (std::int64_t r = 0; r < s.sequences(); ++r) {
      const Batch b = s.sequence(r);
      Tape tape;
      KeptWeights weights;
      Pass pass(tape, s.run.parameters, nullptr, {.observer = &weights});
      s.run.model->logits(pass, b);
      for (std::size_t head = 0; head < 4; ++head)
        for (std::int64_t i = 1; i < b.lengths[0]; ++i, ++queries[head]) {
          const Tensor& w = weights.kept[head / 2];
          const double* row = w.data + static_cast<std::int64_t>(head % 2) * w.stride[1] + i * w.stride[2];
          double total = 0;
          for (std::int64_t j = 0; j < b.length; ++j) total += row[j * w.stride[3]];
          share[head] += row[0] / total;
        }
    }
    const std::vector<HeadInspection> heads = s.inspect({.scores = true}).heads;
    REQUIRE(heads.size() == 4);
    for (std::size_t h = 0; h < 4; ++h)
      CHECK(heads[h].first_key.value() == Approx(share[h] / queries[h]).epsilon(1e-9));
  }
}

TEST_CASE("the variance of scores is that of dot products over the pairs that are attended to", "[inspection]") {
  struct KeptProjections : Observer {
    void output(std::string_view module, const Tensor& y) override {
      if (module.ends_with("attention.qkv")) kept.push_back(contiguous(y));
    }
    std::vector<Tensor> kept;
  };
  const auto alibi = [](std::int64_t head, std::int64_t distance) { // two heads: slopes 2^-4 and 2^-8
    return -std::pow(2.0, -4.0 * static_cast<double>(head + 1)) * static_cast<double>(distance);
  };
  for (const bool with_alibi : {false, true})
    for (const bool causal : {false, true}) {
      const std::vector<std::string> position{with_alibi ? "position.kind=alibi" : "position.kind=sinusoidal"};
      Subject s(causal ? decoder(position) : encoder(position));
      std::vector<std::vector<double>> scores(4);
      for (std::int64_t r = 0; r < s.sequences(); ++r) {
        const Batch b = s.sequence(r);
        Tape tape;
        KeptProjections projections;
        Pass pass(tape, s.run.parameters, nullptr, {.observer = &projections});
        s.run.model->logits(pass, b);
        REQUIRE(projections.kept.size() == 2);
        for (std::size_t head = 0; head < 4; ++head)
          for (std::int64_t i = 0; i < b.lengths[0]; ++i)
            for (std::int64_t j = 0; j < (causal ? i + 1 : b.lengths[0]); ++j) {
              const auto h = static_cast<std::int64_t>(head % 2);
              const double* p = projections.kept[head / 2].data; // [1, T, 3 x 2 heads of 4]
              double dot = 0;
              for (std::int64_t d = 0; d < 4; ++d) dot += p[i * 24 + h * 4 + d] * p[j * 24 + 8 + h * 4 + d];
              scores[head].push_back(dot / 2 + (with_alibi ? alibi(h, std::abs(i - j)) : 0));
            }
      }
      const std::vector<HeadInspection> heads = s.inspect({.scores = true}).heads;
      REQUIRE(heads.size() == 4);
      for (std::size_t h = 0; h < 4; ++h) {
        double mean = 0, squares = 0;
        for (const double x : scores[h]) mean += x / static_cast<double>(scores[h].size());
        for (const double x : scores[h]) squares += (x - mean) * (x - mean);
        CHECK(heads[h].score_variance.value() == Approx(squares / static_cast<double>(scores[h].size())).epsilon(1e-9));
      }
    }
}

TEST_CASE("of a recurrence, the half-life of its decay and the size and directions of its state are measured",
          "[inspection]") {
  struct KeptStates : Observer {
    bool wants_states() const override { return true; }
    void state(const AttentionPlace&, const Tensor& log_decay, const Tensor& state) override {
      decays.push_back(log_decay.tape ? contiguous(log_decay) : Tensor{});
      states.push_back(contiguous(state));
    }
    std::vector<Tensor> decays, states;
  };
  for (const std::string kind : {"gla", "linear_attention", "mamba2", "retention", "rwkv7", "delta_product"}) {
    INFO(kind);
    Subject s(config(test::tiny_decoder, {"mixer.kind=" + kind, "model.width=16"}));
    std::vector<double> logs, counts, norms, ranks;
    for (std::int64_t r = 0; r < s.sequences(); ++r) {
      Batch b = s.sequence(r);
      b.trim();
      Tape tape;
      KeptStates kept;
      Pass pass(tape, s.run.parameters, nullptr, {.observer = &kept});
      s.run.model->logits(pass, b);
      std::size_t head = 0;
      for (std::size_t layer = 0; layer < kept.states.size(); ++layer) {
        const Tensor &all = kept.states[layer], &g = kept.decays[layer];
        for (std::int64_t h = 0; h < all.shape[1]; ++h, ++head) {
          for (auto* of : {&logs, &counts, &norms, &ranks}) of->resize(std::max(of->size(), head + 1));
          // The matrix S S^T, of which squares of singular values are the eigenvalues.
          const std::int64_t rows = all.shape[2], columns = all.shape[3];
          const Real* const m = all.data + h * rows * columns;
          double trace = 0, of_square = 0;
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < rows; ++j) {
              double product = 0;
              for (std::int64_t c = 0; c < columns; ++c) product += m[i * columns + c] * m[j * columns + c];
              trace += i == j ? product : 0;
              of_square += product * product;
            }
          norms[head] += std::sqrt(trace) / static_cast<double>(s.sequences());
          ranks[head] += trace * trace / of_square / static_cast<double>(s.sequences());
          if (!g.tape) continue;
          const std::int64_t each = g.shape[2] * g.shape[3];
          for (std::int64_t i = 0; i < each; ++i) logs[head] += g.data[h * each + i];
          counts[head] += static_cast<double>(each);
        }
      }
    }
    const std::vector<HeadInspection> heads = s.inspect({.states = true}).heads;
    REQUIRE(heads.size() == norms.size());
    for (std::size_t h = 0; h < heads.size(); ++h) {
      CHECK(heads[h].state_norm.value() == Approx(norms[h]));
      CHECK(heads[h].state_rank.value() == Approx(ranks[h]));
      CHECK(heads[h].half_life.has_value() == (kind != "linear_attention"));
      if (heads[h].half_life) CHECK(*heads[h].half_life == Approx(-std::log(2) * counts[h] / logs[h]));
    }
  }
  Subject attention(decoder());
  for (const HeadInspection& head : attention.inspect({.states = true}).heads) CHECK_FALSE(head.state_norm);
}

TEST_CASE("a rank residual is the composite norm of what is left without the mean token", "[inspection]") {
  // Without the mean (2, 0.5): (-1, 1.5), (1, -1.5). Column sums 2 and 3, row sums 2.5; for X 4 and 3, and 3 and 4.
  const std::vector<double> x{1, 2, 3, -1}, same{4, 5, 4, 5, 4, 5};
  CHECK(rank_residual(x.data(), 2, 2).value() == Approx(std::sqrt(3 * 2.5) / 4));
  CHECK(rank_residual(same.data(), 3, 2).value() == 0);
  CHECK_FALSE(rank_residual(std::vector<double>(6).data(), 3, 2));
}

TEST_CASE("a layer's rank residual is the mean over sequences, padding left out", "[inspection]") {
  struct KeptBlocks : Observer {
    void block(std::string_view, const Tensor& y) override { kept.push_back(contiguous(y)); }
    std::vector<Tensor> kept;
  };
  Subject s(encoder());
  std::vector<double> sums(2);
  for (std::int64_t r = 0; r < s.sequences(); ++r) {
    const Batch b = s.sequence(r);
    Tape tape;
    KeptBlocks blocks;
    Pass pass(tape, s.run.parameters, nullptr, {.observer = &blocks});
    s.run.model->logits(pass, b);
    REQUIRE(blocks.kept.size() == 2);
    for (std::size_t l = 0; l < 2; ++l) sums[l] += rank_residual(blocks.kept[l].data, b.lengths[0], 8).value();
  }
  const std::vector<LayerInspection> layers = s.inspect({.layers = true}).layers;
  REQUIRE(layers.size() == 2);
  for (std::size_t l = 0; l < 2; ++l) {
    CHECK(layers[l].layer == fmt::format("blocks.{}", l));
    CHECK(layers[l].rank_residual.value() == Approx(sums[l] / static_cast<double>(s.sequences())).epsilon(1e-9));
  }
}

TEST_CASE("attention that shares alike, with nothing beside it, makes all tokens one", "[inspection]") {
  Subject s(encoder({"block.residual=none", "block.ffn=false", "block.norm=none"}));
  s.set_zero("blocks.1.attention.qkv.weight");
  s.values("blocks.1.attention.qkv.bias")[20] = 1; // of values
  const std::vector<LayerInspection> layers = s.inspect({.layers = true}).layers;
  CHECK(layers.at(0).rank_residual.value() > 1e-3);
  CHECK(layers.at(1).rank_residual.value() < 1e-9);
}

TEST_CASE("norms of layers are those of their modules, and weights' those of plain loops", "[inspection]") {
  Subject s(decoder({"block.residual_scale=layerscale"}));
  const Inspection found = s.inspect();
  REQUIRE(found.layers.size() == 2);
  for (const LayerInspection& layer : found.layers) {
    double gradients = 0, weights = 0, numbers = 0;
    for (const ModuleInspection& m : found.modules) {
      if (m.module != layer.layer && !m.module.starts_with(layer.layer + ".")) continue;
      gradients += std::pow(m.gradient.value_or(0), 2);
      weights += std::pow(m.weight.value_or(0), 2);
    }
    for (const auto& e : s.run.parameters.entries())
      if (e.name.starts_with(layer.layer + "."))
        for (std::int64_t i = 0; i < e.shape.size(); ++i) numbers += std::pow(s.values(e.name)[i], 2);
    CHECK(layer.gradient.value() == Approx(std::sqrt(gradients)));
    CHECK(layer.weight.value() == Approx(std::sqrt(weights)));
    CHECK(layer.weight.value() == Approx(std::sqrt(numbers)));
    CHECK(layer.gradient.value() > 0);
  }
}

TEST_CASE("what is measured of heads and layers has summaries", "[inspection]") {
  const MetricsRecord line{.values = {{"train_loss", 7},
                                      {"score_variance.encoder.blocks.0.attention.0", 1},
                                      {"score_variance.encoder.blocks.0.attention.1", 3},
                                      {"score_variance.decoder.blocks.0.attention.0", 5},
                                      {"score_variance.decoder.blocks.0.attention.1", 9},
                                      {"rank_residual.encoder.blocks.0", 0.5},
                                      {"rank_residual.decoder.blocks.0", 0.25},
                                      {"gradient_norm.blocks.0", 2}}};
  CHECK(value_of(line, "score_variance.mean") == 4.5);
  CHECK(value_of(line, "score_variance.first") == 2);
  CHECK(value_of(line, "score_variance.last") == 7);
  CHECK(value_of(line, "rank_residual.mean") == 0.375);
  CHECK(value_of(line, "rank_residual.first") == 0.5);
  CHECK(value_of(line, "rank_residual.last") == 0.25);
  CHECK(value_of(line, "score_variance.decoder.blocks.0.attention.1") == 9);
  CHECK_FALSE(value_of(line, "gradient_norm.mean"));
  CHECK_FALSE(value_of(line, "train_loss.mean"));
}

TEST_CASE("the names of what is measured are known before a run, and are all that it measures", "[inspection]") {
  for (const std::string& text : {test::tiny_decoder, test::tiny_encoder_decoder}) {
    const Config c = config(text, {"train.inspect=everything"});
    std::set<std::string> measured;
    for (const MetricsRecord& m : train(c).metrics)
      for (const auto& [name, value] : values_of(m))
        if (name.find('.') != std::string::npos) measured.insert(name);
    const std::vector<std::string> names = engine(c).inspected(c, *make_task(c));
    CHECK(std::set<std::string>(names.begin(), names.end()) == measured);
    for (const std::string& name : names) {
      INFO(name);
      const auto info = metric_named(c, name);
      REQUIRE(info);
      CHECK(info->name == name);
      CHECK_FALSE(info->is_goal());
    }
    CHECK(metric_named(c, "rank_residual.blocks.99")); // only the model knows that this block does not exist
    CHECK_FALSE(metric_named(c, "rank_residual"));
    CHECK_FALSE(metric_named(config(text, {"train.inspect=norms"}), "rank_residual.mean"));
  }
}

TEST_CASE("a run of no steps measures the model as it starts", "[inspection]") {
  const Config c = config(test::tiny_decoder, {"precision=float64", "train.steps=0", "train.inspect=everything"});
  const test::History h = train(c);
  CHECK(h.outcome == Outcome::finished);
  REQUIRE(h.checkpoints.size() == 1);
  Subject s(c);
  RunModel kept(c, *s.task);
  load_parameters(kept.parameters, h.last());
  for (const auto& e : s.run.parameters.entries())
    CHECK(std::equal(s.run.parameters.values() + e.offset, s.run.parameters.values() + e.offset + e.shape.size(),
                     kept.parameters.values() + e.offset));
  CHECK(h.final("val_loss") == Approx(s.loss()).epsilon(1e-12));
  // On the same sequences, gradients included.
  const Inspection whole = engine(c).inspect(c, *s.task, nullptr, Split::validation, 0);
  CHECK(whole.step == 0);
  for (const auto& [name, value] : as_metrics(whole)) {
    INFO(name);
    CHECK(h.final(name) == value);
  }
  for (const MetricsRecord& m : h.metrics) CHECK(m.step == 0);
  std::set<std::string> promised, found;
  for (const Metric& m : metrics_of(c)) promised.insert(m.name);
  for (const MetricsRecord& m : h.metrics)
    for (const auto& [name, value] : values_of(m))
      if (promised.contains(name)) found.insert(name);
  CHECK(found == promised);
  // No work is left.
  const test::History again = train(c, h.last());
  CHECK(again.outcome == Outcome::finished);
  CHECK(again.metrics.empty());
}

TEST_CASE("gradient norms are those of the sequences' mean loss in one piece", "[inspection]") {
  Subject s(decoder());
  Batch b;
  b.reset(s.sequences(), s.run.sizes, s.run.format);
  for (std::int64_t r = 0; r < s.sequences(); ++r)
    s.task->evaluation_sequence(s.run.format, Split::validation, r, b, r);
  std::vector<double> gradients(static_cast<std::size_t>(s.run.parameters.extent()));
  Tape tape;
  Pass pass(tape, s.run.parameters, gradients.data(), {});
  tape.backward(cross_entropy(s.run.model->logits(pass, b), b.targets.data()));
  pass.finish_gradients();
  std::map<std::string, double> squares;
  for (const auto& e : s.run.parameters.entries())
    for (std::int64_t i = 0; i < e.shape.size(); ++i)
      squares[e.name.substr(0, e.name.rfind('.'))] += std::pow(gradients[static_cast<std::size_t>(e.offset + i)], 2);
  const Inspection found = s.inspect({.gradients = true});
  REQUIRE(found.modules.size() == squares.size());
  for (const auto& [name, square] : squares) {
    INFO(name);
    CHECK(module(found, name).gradient.value() == Approx(std::sqrt(square)).epsilon(1e-9));
  }
}

TEST_CASE("the squares of a training step's gradient norms add up to grad_norm's", "[inspection]") {
  const test::History h = train(config(test::tiny_decoder, {"train.inspect=norms", "train.inspect_every=1"}));
  const std::vector<double> whole = h.all("grad_norm");
  std::vector<double> squares;
  for (const MetricsRecord& m : h.metrics) {
    double sum = 0;
    for (const auto& [name, value] : m.values)
      if (name.starts_with("gradient_norm.")) sum += value * value;
    if (sum > 0) squares.push_back(sum);
  }
  REQUIRE(squares.size() == 6);
  REQUIRE(whole.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(squares[i] == Approx(whole[i] * whole[i]).epsilon(1e-6));
}

TEST_CASE("a run looks inside as often as asked, and at the end", "[inspection]") {
  const auto steps = [](const std::vector<std::string>& assignments) {
    std::vector<std::int64_t> out;
    for (const MetricsRecord& m : train(config(test::tiny_decoder, assignments)).metrics)
      if (m.values[0].first.starts_with("attention_entropy.")) out.push_back(m.step);
    return out;
  };
  CHECK(steps({}).empty());
  CHECK(steps({"train.inspect=attention"}) == std::vector<std::int64_t>{6});
  CHECK(steps({"train.inspect=attention", "train.inspect_every=4"}) == std::vector<std::int64_t>{4, 6});
}

TEST_CASE("what is measured is what was asked for", "[inspection]") {
  const auto kinds = [](const std::string& inspect) {
    std::set<std::string> out;
    for (const MetricsRecord& m : train(config(test::tiny_decoder, {"train.inspect=" + inspect})).metrics)
      for (const auto& [name, value] : m.values)
        if (const auto dot = name.find('.'); dot != std::string::npos) out.insert(name.substr(0, dot));
    return out;
  };
  using Names = std::set<std::string>;
  CHECK(kinds("none") == Names{});
  CHECK(kinds("norms") == Names{"activation_norm", "gradient_norm"});
  CHECK(kinds("attention") == Names{"attention_entropy", "attention_distance"});
  CHECK(kinds("heads") == Names{"attention_entropy", "attention_distance", "head_importance"});
  const Names all{"activation_norm", "gradient_norm", "attention_entropy", "attention_distance", "head_importance"};
  CHECK(kinds("all") == all);
  const Names of_scores{"score_variance", "first_key_weight"},
      of_layers{"rank_residual", "layer_gradient_norm", "layer_weight_norm", "weight_norm"};
  const auto with = [](Names names, const Names& more) {
    names.insert(more.begin(), more.end());
    return names;
  };
  CHECK(kinds("scores") == with(kinds("attention"), of_scores));
  CHECK(kinds("layers") == with(kinds("norms"), of_layers));
  CHECK(kinds("everything") == with(with(all, of_scores), of_layers));
}

TEST_CASE("looking inside changes no bit of a run, and is the same whatever the threads", "[inspection][bits]") {
  const Config plain = config(test::tiny_decoder, {"attention.dropout=0.1"});
  Config looked = config(test::tiny_decoder,
                         {"attention.dropout=0.1", "train.inspect=everything", "train.inspect_every=2"});
  const test::History one = train(looked);
  CHECK((test::text_of(one.last()) == test::text_of(train(plain).last())));
  for (std::int64_t threads : {2, 3}) {
    looked.train.threads = threads;
    CHECK(test::text_of(train(looked).metrics) == test::text_of(one.metrics));
  }
  Subject s(decoder());
  const auto text = [&](int threads) {
    return test::text_of({{0, 0, 0, as_metrics(s.inspect(all_parts, 0, threads))}});
  };
  const std::string alone = text(1);
  CHECK(text(2) == alone);
  CHECK(text(5) == alone);
}

TEST_CASE("a finished run is inspected as its model was at the last step", "[inspection]") {
  const Config c = config(test::tiny_decoder, {"train.inspect=heads"});
  const test::History h = train(c);
  const auto task = make_task(c);
  const Inspection found = engine(c).inspect(c, *task, &h.last(), Split::validation, 0);
  CHECK(found.step == 6);
  CHECK(found.sequences == 40);
  REQUIRE(found.heads.size() == 4);
  for (const HeadInspection& head : found.heads) {
    const std::string name = fmt::format("{}.{}", head.attention, head.head);
    CHECK(head.entropy == h.final("attention_entropy." + name));
    CHECK(head.distance == h.final("attention_distance." + name));
    CHECK(head.importance == h.final("head_importance." + name));
  }
  CHECK(module(found, "embedding").gradient.value() > 0);
  CHECK(engine(c).inspect(c, *task, &h.last(), Split::validation, 5).sequences == 5);
}

TEST_CASE("what is measured goes into metrics.jsonl and comes back", "[inspection]") {
  Subject s(decoder());
  const MetricsRecord before{3, 0.5, 64, as_metrics(s.inspect())};
  const std::string text = to_json(before);
  CHECK_THAT(text, Contains("\"attention_entropy\": {\"blocks.0.attention.0\": "));
  const auto after = metrics_from_json(text);
  REQUIRE(after);
  REQUIRE(after->values.size() == before.values.size());
  for (std::size_t i = 0; i < before.values.size(); ++i) {
    CHECK(after->values[i].first == before.values[i].first);
    CHECK(after->values[i].second == Approx(before.values[i].second));
  }
}

TEST_CASE("to look at the attention of a model that has none is refused", "[inspection]") {
  struct Blind : Model {
    Tensor logits(Pass& pass, const Batch& b) const override { return pass.tape().zeros({b.sequences, b.length, 8}); }
  };
  for (const std::string inspect : {"attention", "heads", "scores", "norms", "all", "none"}) {
    Subject s(decoder({"train.inspect=" + inspect}));
    check_inspection(s.config, *s.task, s.run);
    s.run.model = std::make_unique<Blind>();
    const std::string why = test::refusal([&] { check_inspection(s.config, *s.task, s.run); });
    if (inspect == "attention" || inspect == "heads" || inspect == "scores")
      CHECK_THAT(why, Contains("[train] inspect = \"" + inspect + "\"") && Contains("no attention"));
    else CHECK(why.empty());
  }
}

TEST_CASE("what a run costs has room for the attention weights of its longest sequence", "[inspection][cost]") {
  const auto bytes = [](const std::string& inspect) {
    const Config c = decoder({"task.copy.length=300", "task.copy.min_length=300", "train.batch=1", "train.shards=1",
                              "task.validation=2", "train.inspect=" + inspect});
    return engine(c).cost(c, *make_task(c)).thread_bytes;
  };
  const double plain = bytes("none"), weights = 2 * 2 * 600.0 * 600.0 * sizeof(double); // two blocks of two heads
  CHECK(bytes("norms") == plain);
  CHECK(bytes("scores") >= bytes("attention"));
  CHECK(bytes("attention") > std::max(plain, weights));
}
