// Tests of `attend`: the attention weights that it reports for an input equal those of the model's own forward pass,
// and the labels of their axes are correct.
#define HEED_REAL f64
#include "experiments/config/config.hpp"
#include "experiments/training/attending.hpp"
#include "experiments/training/introspection.hpp"
#include "tests/experiments/training/training_support.hpp"
#include "tests/layers/kept_weights.hpp"

#include <numeric>
#include <set>

using namespace heed;
using namespace heed::f64;
using test::config;
using test::refusal;
using Catch::Contains;
using Labels = std::vector<std::string>;

namespace {

// A model with initial parameters.
struct Attentive {
  Config config;
  std::unique_ptr<Task> task;
  RunModel run;

  Attentive(const std::string& base, std::vector<std::string> assignments)
      : config(test::config(base, with_precision(std::move(assignments)))), task(make_task(config)),
        run(config, *task) {
    run.parameters.initialise(3);
  }
  static std::vector<std::string> with_precision(std::vector<std::string> assignments) {
    assignments.push_back("precision=float64");
    return assignments;
  }
  AttentionExample attend(const std::string& input, std::optional<std::string> output = {}) {
    return heed::f64::attend(*task, run, {input, std::move(output)});
  }
  // The attention weights of a forward pass over a batch padded to the longest sequence, call by call: [H, Tq, Tk] of
  // sequence 0.
  std::vector<std::vector<std::vector<std::vector<double>>>> pass_weights(const Batch& b) {
    Tape tape;
    KeptWeights weights;
    Pass pass(tape, run.parameters, nullptr, {.observer = &weights});
    run.model->logits(pass, b);
    std::vector<std::vector<std::vector<std::vector<double>>>> out;
    for (const Tensor& w : weights.kept) {
      auto& call = out.emplace_back();
      for (std::int64_t h = 0; h < w.shape[1]; ++h) {
        auto& head = call.emplace_back();
        for (std::int64_t i = 0; i < w.shape[2]; ++i) {
          auto& row = head.emplace_back();
          for (std::int64_t j = 0; j < w.shape[3]; ++j)
            row.push_back(w.data[h * w.stride[1] + i * w.stride[2] + j * w.stride[3]]);
        }
      }
    }
    return out;
  }
  Batch empty() const {
    Batch b;
    b.reset(1, run.sizes, run.format);
    return b;
  }
};

double at(const AttentionMap& map, std::size_t q, std::size_t k) { return map.weights[q * map.keys.size() + k]; }

void check_rows_sum_to_one(const AttentionMap& map) {
  for (std::size_t q = 0; q < map.queries.size(); ++q) {
    const auto row = map.weights.begin() + static_cast<std::ptrdiff_t>(q * map.keys.size());
    CHECK(std::accumulate(row, row + std::ssize(map.keys), 0.0) == Approx(1).epsilon(1e-12));
  }
}

std::vector<std::string> modules_of(const AttentionExample& example) {
  std::vector<std::string> out;
  for (const AttentionMap& map : example.heads)
    if (out.empty() || out.back() != map.module) out.push_back(map.module);
  return out;
}

} // namespace

TEST_CASE("maps number the sequence's own tokens with persistent keys and registers", "[attend]") {
  for (const std::string kind : {"decoder", "encoder_decoder"}) {
    Attentive s(test::tiny_decoder, {"model.kind=" + kind, "model.registers=2", "attention.persistent_keys=3"});
    const Labels tokens = kind == "decoder" ? Labels{"3", "1", "4", "|", "3"} : Labels{"3", "1", "4"};
    const AttentionExample found = s.attend(kind == "decoder" ? "3 1 4 | 3" : "3 1 4");
    REQUIRE(found.heads.size() == (kind == "decoder" ? 4 : 12));
    for (const AttentionMap& map : found.heads) {
      INFO(map.module);
      const bool cross = map.module.find("cross") != std::string::npos;
      if (cross || kind == "decoder" || map.module.starts_with("encoder.")) CHECK(map.keys == tokens);
      if (!cross) CHECK(map.queries == map.keys);
      if (cross) {
        check_rows_sum_to_one(map);
        continue;
      }
      double sum = 0;
      for (std::size_t k = 0; k < map.keys.size(); ++k) sum += at(map, 0, k);
      CHECK(sum > 0.01);
      CHECK(sum < 0.9); // the rest is on the keys before the sequence
    }
  }
}

TEST_CASE("a decoder's maps are the weights of its pass, with the sequence's tokens on both axes", "[attend]") {
  for (const std::vector<std::string>& assignments : {std::vector<std::string>{},
                                                      {"attention.normalizer=sparsemax"},
                                                      {"attention.score=additive"},
                                                      {"position.kind=shaw"}}) {
    Attentive s(test::tiny_decoder, assignments);
    const AttentionExample example = s.attend("3 1 4 | 3");
    CHECK(example.input == "3 1 4 | 3");
    CHECK_FALSE(example.output);
    REQUIRE(example.heads.size() == 4);
    Batch b = s.empty(); // 5 tokens, then padding
    REQUIRE(b.length > 5);
    std::ranges::copy(std::vector<std::int32_t>{3, 1, 4, 5, 3}, b.tokens.begin());
    b.lengths[0] = 5;
    const auto expected = s.pass_weights(b);
    REQUIRE(expected.size() == 2);
    for (std::size_t m = 0; m < 4; ++m) {
      const AttentionMap& map = example.heads[m];
      CHECK(map.module == (m < 2 ? "blocks.0.attention" : "blocks.1.attention"));
      CHECK(map.head == static_cast<std::int64_t>(m % 2));
      CHECK(map.queries == Labels{"3", "1", "4", "|", "3"});
      CHECK(map.keys == map.queries);
      check_rows_sum_to_one(map);
      for (std::size_t q = 0; q < 5; ++q)
        for (std::size_t k = 0; k < 5; ++k) {
          CHECK(at(map, q, k) == Approx(expected[m / 2][m % 2][q][k]).margin(1e-12));
          if (k > q) CHECK(at(map, q, k) == 0);
        }
    }
  }
}

TEST_CASE("entropy and distance are those of inspect for the same sequence", "[attend]") {
  Attentive s(test::tiny_encoder, {});
  Batch b = s.empty();
  s.task->evaluation_sequence(s.run.format, Split::validation, 0, b, 0);
  const std::vector<std::int32_t> tokens(b.tokens.begin(), b.tokens.begin() + b.lengths[0]);
  const AttentionExample example = s.attend(s.task->decode(tokens));
  ThreadPool workers(1);
  const Inspection found = inspect_model(s.config, *s.task, s.run, Split::validation, 1, {.attention = true}, workers);
  REQUIRE(found.heads.size() == example.heads.size());
  for (std::size_t i = 0; i < found.heads.size(); ++i) {
    CHECK(example.heads[i].module == found.heads[i].attention);
    CHECK(example.heads[i].entropy.value() == Approx(found.heads[i].entropy).epsilon(1e-9));
    CHECK(example.heads[i].distance.value() == Approx(found.heads[i].distance.value()).epsilon(1e-9));
  }
}

TEST_CASE("an encoder-decoder's queries are what it reads, and, towards the input, what it puts out", "[attend]") {
  Attentive s(test::tiny_encoder_decoder, {});
  const AttentionExample example = s.attend("0 1 2", "4 3");
  CHECK(example.output.value() == "4 3");
  CHECK(example.forced);
  CHECK(modules_of(example) == Labels{"encoder.blocks.0.attention", "encoder.blocks.1.attention",
                                      "decoder.blocks.0.attention", "decoder.blocks.0.cross_attention",
                                      "decoder.blocks.1.attention", "decoder.blocks.1.cross_attention"});
  const Labels source{"0", "1", "2"}, read{"<begin>", "4", "3"}, put_out{"4", "3", "<end>"};
  Batch b = s.empty();
  std::ranges::copy(std::vector<std::int32_t>{0, 1, 2}, b.tokens.begin());
  b.lengths[0] = 3;
  std::ranges::copy(std::vector<std::int32_t>{s.run.sizes.begin, 4, 3}, b.outputs.begin());
  b.output_lengths[0] = 3;
  const auto expected = s.pass_weights(b);
  REQUIRE(expected.size() == 6);
  for (std::size_t m = 0; m < example.heads.size(); ++m) {
    const AttentionMap& map = example.heads[m];
    INFO(map.module);
    const bool encoder = m < 4, cross = map.module.ends_with("cross_attention");
    CHECK(map.queries == (encoder ? source : cross ? put_out : read));
    CHECK(map.keys == (encoder || cross ? source : read));
    CHECK(map.distance.has_value() == !cross);
    CHECK(map.entropy.has_value());
    check_rows_sum_to_one(map);
    for (std::size_t q = 0; q < 3; ++q)
      for (std::size_t k = 0; k < 3; ++k) CHECK(at(map, q, k) == Approx(expected[m / 2][m % 2][q][k]).margin(1e-12));
  }
}

TEST_CASE("without an output a decoder reads what the model finds greedily", "[attend]") {
  Attentive s(test::tiny_encoder_decoder, {});
  const AttentionExample own = s.attend("0 1 2 3");
  CHECK_FALSE(own.forced);
  std::string generated;
  Sampling sampling;
  sampling.inputs = {"0 1 2 3"};
  sampling.write = [&](std::string_view text) { generated += text; };
  // The same from a checkpoint, as the command does it.
  const test::History h = test::train(s.config);
  engine(s.config).generate(s.config, *s.task, h.last(), sampling);
  const AttentionExample trained = engine(s.config).attend(s.config, *s.task, h.last(), {{"0 1 2 3", {}}}).at(0);
  CHECK(trained.output.value() + "\n" == generated);
  CHECK(trained.step == 6);
  // An output that is cut off at the maximum length has read one token fewer than it produced; otherwise it also
  // produces the end.
  for (const AttentionExample* e : {&own, &trained}) {
    const Labels& put_out = e->heads.back().queries;
    CHECK(put_out.size() <= static_cast<std::size_t>(s.run.sizes.output_length));
    CHECK((put_out.back() == "<end>" || std::ssize(put_out) == s.run.sizes.output_length));
  }
}

TEST_CASE("the steps of a recurrent decoder are stacked to one map", "[attend]") {
  for (const std::vector<std::string>& assignments : {std::vector<std::string>{"recurrent.attention=bahdanau"},
                                                      {"recurrent.attention=luong", "recurrent.input_feeding=false"},
                                                      {"recurrent.attention=luong", "recurrent.input_feeding=true"}}) {
    std::vector<std::string> all = assignments;
    all.insert(all.begin(), "model.kind=recurrent");
    std::string base = test::tiny_encoder_decoder;
    for (const std::string line : {"layers = 2\n", "heads = 2\n", "kind = \"encoder_decoder\"\n"})
      base.erase(base.find(line), line.size());
    Attentive s(base, all);
    const AttentionExample example = s.attend("0 1 2 3", "4 3");
    REQUIRE(example.heads.size() == 1);
    const AttentionMap& map = example.heads[0];
    CHECK(map.module == "decoder.attention");
    CHECK(map.queries == Labels{"4", "3", "<end>"});
    CHECK(map.keys == Labels{"0", "1", "2", "3"});
    CHECK_FALSE(map.distance);
    check_rows_sum_to_one(map);
    Batch b = s.empty();
    std::ranges::copy(std::vector<std::int32_t>{0, 1, 2, 3}, b.tokens.begin());
    b.lengths[0] = 4;
    b.output_length = 3;
    b.outputs = {s.run.sizes.begin, 4, 3};
    b.targets = {4, 3, s.run.sizes.end};
    b.output_lengths[0] = 3;
    std::vector<double> expected;
    for (const auto& call : s.pass_weights(b))
      for (const auto& row : call.at(0)) expected.insert(expected.end(), row.begin(), row.end());
    REQUIRE(expected.size() == map.weights.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(map.weights[i] == Approx(expected[i]).margin(1e-12));
  }
}

TEST_CASE("pooling has one query of its own", "[attend]") {
  Attentive s(test::tiny_encoder, {"model.encoder.pooling=context"});
  const AttentionExample example = s.attend("1 0 1 1");
  REQUIRE(example.heads.size() == 5);
  const AttentionMap& pooling = example.heads.back();
  CHECK(pooling.module == "pooling");
  CHECK(pooling.queries == Labels{"<query>"});
  CHECK(pooling.keys == Labels{"1", "0", "1", "1"});
  CHECK_FALSE(pooling.distance);
  check_rows_sum_to_one(pooling);
  CHECK(s.attend("1").heads.front().queries == Labels{"1"}); // one token is not a query of pooling
}

TEST_CASE("patches are called by row and column", "[attend]") {
  Attentive s(test::tiny_patches, {});
  const AttentionExample example = s.attend("row 3");
  REQUIRE(example.heads.size() == 4);
  const AttentionMap& map = example.heads[0];
  REQUIRE(map.keys.size() == 16);
  CHECK(map.keys[0] == "0,0");
  CHECK(map.keys[5] == "1,1");
  CHECK(map.keys[15] == "3,3");
  CHECK(map.queries == map.keys);
  Batch b = s.empty();
  s.task->evaluation_sequence(s.run.format, Split::validation, 3, b, 0);
  const auto expected = s.pass_weights(b);
  for (std::size_t q = 0; q < 16; ++q)
    for (std::size_t k = 0; k < 16; ++k) CHECK(at(map, q, k) == Approx(expected[0][0][q][k]).margin(1e-12));
}

TEST_CASE("what a model can't read is refused, and says what is allowed", "[attend]") {
  Attentive decoder(test::tiny_decoder, {}), translator(test::tiny_encoder_decoder, {}),
      patches(test::tiny_patches, {});
  CHECK_THAT(refusal([&] { decoder.attend("3 cat"); }), Contains("the input \"3 cat\" can't be read") &&
                                                            Contains("\"cat\" is not a word") && Contains("0 1 2 3 4"));
  CHECK_THAT(refusal([&] { decoder.attend("  "); }), Contains("has no tokens"));
  CHECK_THAT(refusal([&] { decoder.attend("0 0 0 0 0 0 0 0 0 0"); }),
             Contains("has 10 tokens, and the longest that this run's model reads has 8"));
  CHECK_THAT(refusal([&] { decoder.attend("\xff"); }), Contains("can't be read"));
  CHECK_THAT(refusal([&] { decoder.attend("1 |", "1"); }), Contains("an output does nothing here"));
  CHECK_THAT(refusal([&] { translator.attend("1 2", "1 cat"); }), Contains("the output \"1 cat\" can't be read"));
  CHECK_THAT(refusal([&] { translator.attend("1 2", "1 1 1 1 1"); }), Contains("has 5 tokens") && Contains("has 4"));
  CHECK_THAT(refusal([&] { patches.attend("a cat"); }), Contains("\"row 0\" to \"row 19\""));
  CHECK_THAT(refusal([&] { patches.attend("row 20"); }), Contains("\"row 0\" to \"row 19\""));
  CHECK_THAT(refusal([&] { patches.attend("row -1"); }), Contains("\"row 0\" to \"row 19\""));
  struct Blind : Model {
    Tensor logits(Pass& pass, const Batch& b) const override { return pass.tape().zeros({b.sequences, b.length, 8}); }
  };
  decoder.run.model = std::make_unique<Blind>();
  CHECK_THAT(refusal([&] { decoder.attend("1 |"); }), Contains("no attention"));
}
