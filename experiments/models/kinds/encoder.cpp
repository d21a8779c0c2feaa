#include "experiments/config/config.hpp"
#include "experiments/models/transformer.hpp"
#include "layers/pooling.hpp"

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string pooling = "mean";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("pooling", &Options::pooling,
             "the vector from which the class is predicted: the mean over all tokens; the first or the last token; or "
             "a weighted sum of all tokens, with the weights of a learned query under the last block's score and "
             "normaliser (context)")
          .one_of(pooling_words()));
  return t;
}

class Encoder : public Model {
public:
  Encoder(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : transformer_(scope, config, sizes), pooling_(scope / "pooling", table().read(config.model_options).pooling,
                                                     config.layers.back(), {transformer_.width(), sizes.length}),
        output_((scope / "output").output_layer(), transformer_.width(), sizes.classes, has_head_bias(config, true)) {}

  Tensor logits(Pass& pass, const Batch& batch) const override {
    return output_(pass, pooling_(pass, transformer_(pass, batch), batch.lengths.data()));
  }

private:
  Transformer transformer_;
  Pooling pooling_;
  Linear output_;
};

} // namespace

extern const ModelInfo model_encoder{
    .about = {.name = "encoder",
              .summary = "a Transformer in which every token attends to all others; it predicts a class for the whole "
                         "sequence",
              .paper = "Devlin et al. 2019, arXiv 1810.04805",
              .cost = "about 12 width^2 parameters for each layer with the standard widths",
              .options = table().options(),
              .presets = {{"attention.causal", Value(false)}, {"position.t5.both_sides", Value(true)}}},
    .format = TaskFormat::classification,
    .make = [](const Scope& scope, const Config& config, const TaskSizes& sizes) -> std::unique_ptr<Model> {
      return std::make_unique<Encoder>(scope, config, sizes);
    },
    .stacks = {"encoder"}};

} // namespace heed::HEED_REAL
