#include "experiments/config/config.hpp"
#include "experiments/models/recurrent_parts.hpp"
#include "layers/pooling.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string pooling = "context";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("pooling", &Options::pooling,
             "the vector from which the class is predicted: the mean over all states; the first or the last state; or "
             "a weighted sum of all states, with the weights of a learned query under [attention] score and normalizer "
             "(context)")
          .one_of(pooling_words()));
  return t;
}

/// The condition of an option that has an effect only if the pooling attends to the states.
OptionCondition attends(const std::string& option) {
  return {option, "model.recurrent_classifier.pooling", {"mean", "first", "last"}, true};
}

class RecurrentClassifier : public Model {
public:
  RecurrentClassifier(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : encoder_(scope, config, sizes, config.recurrent.bidirectional),
        pooling_(scope / "pooling", table().read(config.model_options).pooling, config.layers.front(),
                 {config.model.width, sizes.length}),
        output_((scope / "output").output_layer(), config.model.width, sizes.classes, has_head_bias(config, true)) {}

  Tensor logits(Pass& pass, const Batch& batch) const override {
    return output_(pass, pooling_(pass, contiguous(encoder_(pass, batch).states), batch.lengths.data()));
  }

private:
  RecurrentEncoder encoder_;
  Pooling pooling_;
  Linear output_;
};

} // namespace

extern const ModelInfo model_recurrent_classifier{
    .about = {.name = "recurrent_classifier",
              .summary =
                  "recurrent layers over a sequence; their states are pooled into one vector, which predicts a class "
                  "for the sequence",
              .paper = "Yang et al. 2016, Hierarchical Attention Networks (pooling = context)",
              .cost = "2 gates width^2 parameters for each layer, gates 1 (srn), 3 (gru) or 4 (lstm)",
              .options = table().options(),
              .presets = {{"attention.score", Value(std::string("dot"))}, {"model.init_std", Value(0.1)}},
              .uses = {"recurrent", "recurrent.bidirectional"},
              .conditions = {attends("init.linear"), attends("attention")}},
    .format = TaskFormat::classification,
    .make = [](const Scope& scope, const Config& config, const TaskSizes& sizes) -> std::unique_ptr<Model> {
      return std::make_unique<RecurrentClassifier>(scope, config, sizes);
    }};

} // namespace heed::HEED_REAL
