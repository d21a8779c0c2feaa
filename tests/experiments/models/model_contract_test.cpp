// Tests of properties that every model must have, whatever its configuration.
#include "experiments/config/config.hpp"
#include "tests/experiments/models/model_support.hpp"

#include <cstring>
#include <fmt/format.h>

using namespace heed;
using namespace heed::f32;

namespace {

std::vector<std::string> with(std::vector<std::string> assignments, const std::string& more) {
  assignments.push_back(more);
  return assignments;
}

// Replaces the token wherever `where` is true.
void exchange(Batch& batch, const std::function<bool(std::int64_t sequence, std::int64_t t)>& where) {
  for (std::int64_t r = 0; r < batch.sequences; ++r)
    for (std::int64_t t = 0; t < batch.length; ++t)
      if (where(r, t)) {
        std::int32_t& token = batch.tokens[static_cast<std::size_t>(r * batch.length + t)];
        token = (token + 1) % 5;
      }
}

} // namespace

TEST_CASE("a decoder's logits depend on no later token, bit for bit", "[model][contract]") {
  for (const auto& assignments : spread()) {
    INFO(listed(assignments));
    TestModel m(assignments);
    const Batch before = m.batch({4, 4, 3});
    const std::vector<Real> expected = m.logits(before);
    for (std::int64_t past = 1; past < 4; ++past) {
      Batch after = before;
      exchange(after, [&](std::int64_t, std::int64_t t) { return t >= past; });
      const std::vector<Real> found = m.logits(after);
      for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
        const std::int64_t begin = sequence * 4 * 5;
        CHECK(std::equal(expected.begin() + begin, expected.begin() + begin + past * 5, found.begin() + begin));
      }
      CHECK(found != expected);
    }
  }
}

TEST_CASE("without recording, logits are the same bits, in the memory of one block", "[model][contract]") {
  for (const char* kind : {"decoder", "encoder", "encoder_decoder"}) {
    std::vector<std::vector<std::string>> tried{{}};
    if (kind == std::string("decoder")) tried = spread();
    for (auto assignments : tried) {
      assignments.push_back(fmt::format("model.kind={}", kind));
      INFO(listed(assignments));
      TestModel m(assignments);
      const Batch batch = m.batch({2, 4, 1});
      Tape tape;
      tape.record(false);
      for (int time = 0; time < 2; ++time) { // with new memory, and with memory that was used before
        Pass pass = m.weights.pass(tape);
        CHECK(read(m.model->logits(pass, batch)) == m.logits(batch));
        tape.rewind();
      }
    }
    const auto peak = [&](int layers, bool recording) {
      TestModel m({fmt::format("model.kind={}", kind), fmt::format("model.layers={}", layers), "model.width=64",
                   "block.ffn_width=256"});
      Tape tape;
      tape.record(recording);
      Pass pass = m.weights.pass(tape);
      m.model->logits(pass, m.batch(std::vector<std::int32_t>(50, 4)));
      return static_cast<double>(tape.peak());
    };
    // Without recording, only the leaf tensors of a block stay in memory.
    CHECK(peak(8, false) < 1.1 * peak(2, false));
    CHECK(peak(8, true) > 2.5 * peak(2, true));
  }
}

TEST_CASE("a decoder that is not causal sees later tokens", "[model]") {
  TestModel m({"attention.causal=false"});
  Batch batch = m.batch({4});
  const std::vector<Real> before = m.logits(batch);
  exchange(batch, [](std::int64_t, std::int64_t t) { return t == 3; });
  CHECK_FALSE(std::equal(before.begin(), before.begin() + 5, m.logits(batch).begin()));
}

TEST_CASE("padding changes nothing of what an encoder says, bit for bit", "[model][contract]") {
  for (const auto& assignments : spread_of("encoder"))
    for (const std::string& pooling : find_option("model.encoder.pooling")->words) {
      INFO(listed(assignments) << ", pooling " << pooling);
      if (refused(assignments)) continue;
      TestModel m(with(assignments, "model.encoder.pooling=" + pooling));
      const Batch before = m.batch({2, 4, 1});
      Batch after = before;
      exchange(after, [&](std::int64_t r, std::int64_t t) { return t >= before.lengths[static_cast<std::size_t>(r)]; });
      REQUIRE(after.tokens != before.tokens);
      CHECK(m.logits(after) == m.logits(before));
    }
}

TEST_CASE("padding changes nothing of what a decoder says of tokens, bit for bit", "[model][contract]") {
  for (const auto& assignments : spread()) {
    INFO(listed(assignments));
    if (refused(with(assignments, "attention.causal=false"))) continue;
    TestModel m(with(assignments, "attention.causal=false"));
    const Batch before = m.batch({2, 4, 1});
    Batch after = before;
    exchange(after, [&](std::int64_t r, std::int64_t t) { return t >= before.lengths[static_cast<std::size_t>(r)]; });
    const std::vector<Real> a = m.logits(before), b = m.logits(after);
    for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
      const std::int64_t begin = sequence * 4 * 5, n = before.lengths[static_cast<std::size_t>(sequence)] * 5;
      CHECK(std::equal(a.begin() + begin, a.begin() + begin + n, b.begin() + begin));
    }
  }
}

TEST_CASE("an encoder-decoder's logits depend on all of the input, and on no later output", "[model][contract]") {
  for (const auto& assignments : spread_of("encoder_decoder")) {
    INFO(listed(assignments));
    if (refused(assignments)) continue;
    TestModel m(assignments);
    // Without the residual connection around attention, earlier tokens affect only the weights of the input, and the
    // effect may be too small to see.
    const std::string& residual = m.config.layers[0].block.residual;
    const bool keeps_tokens = residual == "both" || residual == "attention";
    const Batch before = m.batch({4, 4, 4});
    const std::vector<Real> expected = m.logits(before);
    for (std::int64_t past = 1; past < 4; ++past) {
      Batch after = before;
      for (std::int64_t sequence = 0; sequence < 3; ++sequence)
        for (std::int64_t t = past; t < 4; ++t) {
          std::int32_t& token = after.outputs[static_cast<std::size_t>(sequence * 4 + t)];
          token = (token + 1) % 5;
        }
      const std::vector<Real> found = m.logits(after);
      for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
        const std::int64_t begin = sequence * 4 * 5;
        CHECK(std::equal(expected.begin() + begin, expected.begin() + begin + past * 5, found.begin() + begin));
      }
      if (keeps_tokens) CHECK(found != expected);
    }
    // Other normalisers may give a token a weight of exactly 0.
    if (m.config.layers[0].attention.normalizer != "softmax") continue;
    // Dynamic Tanh does not enlarge small numbers, so the effect may be too small to see.
    if (m.config.layers[0].block.norm_kind == "dyt") continue;
    for (std::int64_t past = 0; past < 4; ++past) {
      Batch after = before;
      exchange(after, [&](std::int64_t, std::int64_t t) { return t == past; });
      const std::vector<Real> found = m.logits(after);
      CHECK_FALSE(std::equal(expected.begin(), expected.begin() + 5, found.begin()));
    }
  }
}

TEST_CASE("padding changes nothing of what an encoder-decoder says of outputs, bit for bit", "[model][contract]") {
  for (const auto& assignments : spread_of("encoder_decoder")) {
    INFO(listed(assignments));
    if (refused(assignments)) continue;
    TestModel m(assignments);
    const Batch before = m.batch({2, 4, 1});
    Batch after = before;
    exchange(after, [&](std::int64_t r, std::int64_t t) { return t >= before.lengths[static_cast<std::size_t>(r)]; });
    for (std::int64_t sequence = 0; sequence < 3; ++sequence)
      for (std::int64_t t = before.output_lengths[static_cast<std::size_t>(sequence)]; t < 4; ++t)
        after.outputs[static_cast<std::size_t>(sequence * 4 + t)] = 2;
    const std::vector<Real> a = m.logits(before), b = m.logits(after);
    for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
      const std::int64_t begin = sequence * 4 * 5, n = before.output_lengths[static_cast<std::size_t>(sequence)] * 5;
      CHECK(std::equal(a.begin() + begin, a.begin() + begin + n, b.begin() + begin));
    }
  }
}

TEST_CASE("an encoder-decoder's stacks are configured by what they share and by their own options", "[model]") {
  const auto parameters = [](const std::vector<std::string>& more) {
    std::vector<std::string> assignments{"model.kind=encoder_decoder"};
    assignments.insert(assignments.end(), more.begin(), more.end());
    return TestModel(assignments).weights.parameters;
  };
  CHECK(parameters({}).find("decoder.blocks.1.cross_attention.query.weight"));
  CHECK_FALSE(parameters({}).find("encoder.blocks.1.cross_attention.query.weight"));
  CHECK_FALSE(parameters({"model.encoder_decoder.decoder_layers=1"}).find("decoder.blocks.1.ffn.expand.weight"));
  CHECK(parameters({"model.encoder_decoder.decoder_layers=3"}).find("decoder.blocks.2.ffn.expand.weight"));
  CHECK(parameters({"attention.cross_score=additive"}).find("decoder.blocks.0.cross_attention.score.v"));
  CHECK_FALSE(parameters({"attention.cross_score=additive"}).find("decoder.blocks.0.attention.score.v"));
  const std::int64_t all = parameters({}).count();
  CHECK(parameters({"model.tied_embeddings=false"}).count() == all + 5 * 4);
  CHECK(parameters({"model.encoder_decoder.shared_embeddings=true"}).count() == all - 5 * 4);

  TestModel m({"model.kind=encoder_decoder", "model.encoder_decoder.shared_embeddings=true"});
  TaskSizes apart = m.sizes;
  apart.shared_vocabulary = false;
  Weights weights;
  CHECK_THROWS_WITH(model_info("encoder_decoder").make(weights.scope(), m.config, apart),
                    Catch::Contains("shared_embeddings") && Catch::Contains("vocabulary"));
}

TEST_CASE("a sequence says the same whatever sequences are with it", "[model][contract]") {
  for (const std::string kind : {"decoder", "encoder"}) {
    INFO(kind);
    TestModel m({"model.kind=" + kind});
    const Batch three = m.batch({4, 2, 3});
    Batch one = three;
    one.reset(1, three.length, m.format);
    one.lengths = {2};
    std::copy_n(three.tokens.begin() + 4, 4, one.tokens.begin());
    const std::vector<Real> all = m.logits(three), alone = m.logits(one);
    const std::vector<Real> second(all.begin() + static_cast<std::ptrdiff_t>(alone.size()),
                                   all.begin() + static_cast<std::ptrdiff_t>(2 * alone.size()));
    CHECK(distance(alone, second) < 20 * rounding);
  }
}

TEST_CASE("an encoder that sees no position gives the same whatever the tokens' order", "[model]") {
  TestModel blind({"model.kind=encoder", "position.kind=none"}), sees({"model.kind=encoder"});
  Batch batch = blind.batch({4});
  batch.tokens = {0, 3, 1, 4};
  Batch reversed = batch;
  std::reverse(reversed.tokens.begin(), reversed.tokens.end());
  CHECK(distance(blind.logits(reversed), blind.logits(batch)) < 20 * rounding);
  CHECK(distance(sees.logits(reversed), sees.logits(batch)) > 1e-3);
}

TEST_CASE("tied embeddings are the output's weights; untied ones have a matrix of their own", "[model]") {
  const auto count = [](const std::vector<std::string>& assignments) {
    return TestModel(assignments).weights.parameters.count();
  };
  CHECK(count({"model.tied_embeddings=false"}) == count({}) + 5 * 4);
  CHECK_FALSE(TestModel({}).weights.parameters.find("output.weight"));
  CHECK_THROWS_WITH(TestModel({"position.combine=concat", "position.concat=widen"}),
                    Catch::Contains("tied_embeddings = false"));
}

TEST_CASE("weights start normal, and smaller where a residual branch ends", "[model]") {
  // 2 layers: the projections at the end of a branch start at init_std / sqrt(4).
  for (bool scaled : {true, false}) {
    const Config config = test::config("[model]\nlayers = 2\nwidth = 64\ninit_std = 0.1\n",
                                       {std::string("model.scaled_init=") + (scaled ? "true" : "false")});
    Parameters parameters;
    const auto model = model_info("decoder").make({parameters, init_rules(config)}, config, {50, 16, 50});
    parameters.initialise(3);
    for (const auto& e : parameters.entries()) {
      INFO(e.name);
      double square = 0, sum = 0;
      for (std::int64_t i = 0; i < e.shape.size(); ++i) {
        const double x = static_cast<double>(parameters.values()[e.offset + i]);
        square += x * x;
        sum += x;
      }
      const auto n = static_cast<double>(e.shape.size());
      if (e.shape.rank == 1) {
        CHECK(sum == (e.name.find("norm.weight") != std::string::npos ? n : 0.0));
        continue;
      }
      const auto named = [&](const char* part) { return e.name.find(part) != std::string::npos; };
      const bool ends = named("output.weight") || named("project.");
      const double expected = ends && scaled ? 0.05 : 0.1;
      CHECK(std::sqrt(square / n) == Approx(expected).epsilon(6 / std::sqrt(2 * n)));
      CHECK(std::abs(sum / n) < 6 * expected / std::sqrt(n));
    }
  }
}

TEST_CASE("every registered model says what it is, and is found by its name", "[model]") {
  for (const ModelInfo* info : models()) {
    CHECK(&model_info(info->about.name) == info);
    CHECK_FALSE(info->about.summary.empty());
  }
  CHECK_THROWS_WITH(model_info("decodre"), Catch::Contains("decodre"));
}
