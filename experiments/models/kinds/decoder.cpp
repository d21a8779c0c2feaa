#include "experiments/config/config.hpp"
#include "experiments/models/transformer.hpp"

namespace heed::HEED_REAL {

namespace {

class Decoder : public Model {
public:
  Decoder(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : transformer_(scope, config, sizes), head_(scope, config, transformer_, sizes.classes) {}

  Tensor logits(Pass& pass, const Batch& batch) const override { return head_(pass, transformer_(pass, batch)); }

  std::unique_ptr<Decoding> decoding(Pass&, const Batch&) const override {
    if (!transformer_.serves_steps()) return nullptr;
    return std::make_unique<TransformerDecoding>(transformer_,
                                                 [this](Pass& p, const Tensor& x) { return head_(p, x); });
  }

private:
  Transformer transformer_;
  Head head_;
};

} // namespace

extern const ModelInfo model_decoder{
    .about = {.name = "decoder",
              .summary = "a Transformer that predicts each next token from the tokens before it (language model)",
              .paper = "Radford et al. 2019 (GPT-2); Liu et al. 2018, arXiv 1801.10198",
              .cost = "about 12 width^2 parameters for each layer with the standard widths",
              .uses = {"model.tied_embeddings"},
              .conditions = {{"init.head", "model.tied_embeddings", {"false"}}}},
    .format = TaskFormat::language_model,
    .make = [](const Scope& scope, const Config& config, const TaskSizes& sizes) -> std::unique_ptr<Model> {
      return std::make_unique<Decoder>(scope, config, sizes);
    },
    .stacks = {"decoder"}};

} // namespace heed::HEED_REAL
