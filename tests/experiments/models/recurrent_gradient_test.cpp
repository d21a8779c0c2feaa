// Compares gradients of the recurrent models, and of the model on image patches, with finite differences.
#define HEED_REAL f64 // finite differences need double precision
#include "tests/experiments/models/small_model.hpp"
#include "tests/layers/module_check.hpp"

using namespace heed;
using namespace heed::f64;

namespace {

void check_recurrent(const std::vector<std::string>& assignments) {
  INFO(in_words(assignments));
  SmallModel m(assignments);
  const Batch batch = m.batch();
  check_module(m.weights, {}, [&](Pass& pass, const std::vector<Tensor>&) {
    return cross_entropy(m.model->logits(pass, batch), batch.targets.data(), {.label_smoothing = 0.1});
  });
}

} // namespace

TEST_CASE("the recurrent translator has the right gradient with every choice of its own", "[gradient][model]") {
  for (const auto& assignments : recurrent_choices()) check_recurrent(assignments);
}

TEST_CASE("the recurrent translator has the right gradient stacked, with dropout, and with other scores",
          "[gradient][model]") {
  check_recurrent({"model.kind=recurrent", "recurrent.layers=2", "recurrent.dropout=0.3", "model.dropout=0.2",
                   "attention.dropout=0.2"});
  for (const std::string& score : find_option("attention.score")->words)
    check_recurrent({"model.kind=recurrent", "attention.score=" + score});
}

TEST_CASE("the recurrent language model and classifier have the right gradient", "[gradient][model]") {
  for (const std::string& cell : find_option("recurrent.cell")->words) {
    check_recurrent({"model.kind=recurrent_decoder", "recurrent.cell=" + cell, "recurrent.layers=2"});
    for (const std::string& pooling : find_option("model.recurrent_classifier.pooling")->words)
      for (const std::string both : {"true", "false"})
        check_recurrent({"model.kind=recurrent_classifier", "recurrent.cell=" + cell, "recurrent.bidirectional=" + both,
                         "model.recurrent_classifier.pooling=" + pooling});
  }
}

TEST_CASE("the model that looks at patches has the right gradient with both stems and all poolings",
          "[gradient][model]") {
  for (const std::string& pooling : find_option("model.patches.pooling")->words)
    check_recurrent({"model.kind=patches", "model.layers=1", "model.heads=2", "block.ffn_width=5",
                     "model.patches.patch=2", "model.patches.pooling=" + pooling});
  check_recurrent({"model.kind=patches", "model.layers=1", "model.heads=2", "block.ffn_width=5",
                   "model.patches.patch=2", "model.patches.stem=convolution", "model.patches.channels=4",
                   "model.patches.groups=2"});
}
