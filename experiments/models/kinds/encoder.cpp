#include "experiments/models/transformer.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::string pooling = "mean";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("pooling", &Options::pooling, "what the class is read from: the mean over all tokens, or the first token")
          .one_of({"mean", "first"}));
  return t;
}

class Encoder : public Model {
public:
  Encoder(const Scope& scope, const Config& config, const TaskShape& shape)
      : transformer_(scope, config, shape),
        output_(scope / "output", transformer_.width(), shape.classes, true),
        mean_(table().read(config.model_options).pooling == "mean") {}

  Tensor logits(Pass& pass, const Batch& batch) const override {
    const Tensor x = transformer_(pass, batch);
    return output_(pass, mean_ ? mean_of_tokens(x, batch) : first_token(x));
  }

private:
  static Tensor first_token(const Tensor& x) {
    return reshape(slice(x, 1, 0, 1), {x.shape[0], x.shape[2]});
  }

  // The mean over the tokens that are not padding, as a product with a row of weights for each sequence.
  static Tensor mean_of_tokens(const Tensor& x, const Batch& batch) {
    const Tensor share = x.tape->zeros({batch.rows, 1, batch.length});
    for (std::int64_t r = 0; r < batch.rows; ++r) {
      const std::int64_t n = batch.lengths[static_cast<std::size_t>(r)];
      std::fill_n(share.data + r * batch.length, n, Real{1} / static_cast<Real>(std::max<std::int64_t>(n, 1)));
    }
    return reshape(matmul(share, x), {batch.rows, x.shape[2]});
  }

  Transformer transformer_;
  Linear output_;
  bool mean_;
};

} // namespace

extern const ModelInfo model_encoder{
    .about = {.name = "encoder",
              .summary = "a Transformer in which every token sees all others, and a class for the whole row",
              .paper = "Devlin et al. 2019, arXiv 1810.04805",
              .equals = "",
              .cost = "about 12 width^2 parameters for each layer with the standard widths",
              .options = table().options(),
              .presets = {{"attention.causal", Value(false)}}},
    .form = Form::classification,
    .make = [](const Scope& scope, const Config& config, const TaskShape& shape) -> std::unique_ptr<Model> {
      return std::make_unique<Encoder>(scope, config, shape);
    }};

} // namespace heed::HEED_REAL
