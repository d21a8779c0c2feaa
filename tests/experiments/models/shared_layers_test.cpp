// Tests of blocks that share parameters, against separate blocks with equal values.
#include "experiments/config/config.hpp"
#include "tests/experiments/models/small_model.hpp"

#include <map>
#include <set>

using namespace heed;
using namespace heed::f32;

namespace {

std::vector<std::string> with_all(std::vector<std::string> assignments, const std::vector<std::string>& more) {
  assignments.insert(assignments.end(), more.begin(), more.end());
  return assignments;
}

// Turns "decoder.blocks.2.ffn.expand.weight" into "decoder.blocks.0.ffn.expand.weight".
std::string in_first_block(std::string name) {
  const auto at = name.find("blocks.");
  if (at == std::string::npos) return name;
  const auto begin = at + 7;
  return name.replace(begin, name.find('.', begin) - begin, "0");
}

struct Step {
  std::vector<Real> logits;
  std::map<std::string, std::vector<double>> gradients; // gradients summed over all blocks of a stack
};

Step step(SmallModel& m, const Batch& batch) {
  Step out;
  Tape tape;
  Pass pass = m.weights.pass(tape, {.training = true});
  const Tensor logits = m.model->logits(pass, batch);
  tape.backward(weighted_sum(logits));
  pass.finish_gradients();
  out.logits = read(logits);
  for (const auto& e : m.weights.parameters.entries()) {
    std::vector<double>& sum = out.gradients[in_first_block(e.name)];
    const std::vector<Real> one = m.weights.gradient(e.name);
    sum.resize(one.size());
    for (std::size_t i = 0; i < one.size(); ++i) sum[i] += static_cast<double>(one[i]);
  }
  return out;
}

class Names : public Observer {
public:
  void heads(const AttentionPlace& attention, const Tensor&) override { CHECK(names.insert(attention.module).second); }
  std::set<std::string> names;
};

} // namespace

TEST_CASE("shared blocks are blocks with the same numbers, whose gradients are added", "[model]") {
  const std::vector<std::vector<std::string>> models = {
      {"model.kind=decoder"},
      {"model.kind=decoder", "position.kind=shaw", "attention.score=additive", "attention.score_mod=x * s",
       "attention.parameters.x.per=head"},
      {"model.kind=decoder", "block.norm=sandwich", "block.residual_scale=layerscale", "attention.key_value_heads=1",
       "attention.query_key_norm=rms"},
      {"model.kind=decoder", "block.connection=highway", "block.norm=post"},
      {"model.kind=encoder"},
      {"model.kind=encoder_decoder", "model.encoder_decoder.decoder_layers=2"}};
  for (const auto& assignments : models) {
    INFO(in_words(assignments));
    SmallModel shared(with_all(assignments, {"model.heads=2", "model.layers=3", "model.shared_layers=true"})),
        apart(with_all(assignments, {"model.heads=2", "model.layers=3"})),
        one(with_all(assignments, {"model.heads=2", "model.layers=1"}));
    const Batch batch = shared.batch();
    if (shared.config.model.kind != "encoder_decoder")
      CHECK(shared.weights.parameters.count() == one.weights.parameters.count());
    for (const auto& e : apart.weights.parameters.entries()) {
      const auto* first = shared.weights.parameters.find(in_first_block(e.name));
      REQUIRE(first);
      apart.weights.set(e.name, {shared.weights.parameters.values() + first->offset,
                                 shared.weights.parameters.values() + first->offset + first->shape.size()});
    }
    const Step found = step(shared, batch), expected = step(apart, batch);
    CHECK(found.logits == expected.logits);
    REQUIRE(found.gradients.size() == expected.gradients.size());
    for (const auto& [name, gradient] : expected.gradients) {
      INFO(name);
      const std::vector<double>& other = found.gradients.at(name);
      for (std::size_t i = 0; i < gradient.size(); ++i)
        CHECK(other[i] == Approx(gradient[i]).epsilon(1e-4).margin(1e-4));
    }
  }
}

TEST_CASE("those who look on tell the applications of a shared block apart", "[model]") {
  SmallModel m({"model.kind=encoder_decoder", "model.layers=3", "model.shared_layers=true"});
  Names names;
  Tape tape;
  m.logits(tape, m.batch(), {.observer = &names});
  CHECK(names.names.size() == 3 * 3);
  CHECK(names.names.contains("decoder.blocks.2.cross_attention"));
}
